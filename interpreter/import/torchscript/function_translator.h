#pragma once

#include <boxcar/interpreter/import/torchscript/rename_variables.h>
#include <boxcar/interpreter/import/torchscript/translation.h>

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace boxcar::interp::torchscript {

// Translates one function: statements to lines, expressions to texts with their types.
class FunctionTranslator final {
 public:
  // [skips_unset] as in renamedVariables().
  FunctionTranslator(Translation& translation, const Callable& callable, bool skips_unset)
      : translation_(translation),
        unit_(translation.unit),
        callable_(callable),
        skips_unset_(skips_unset),
        renamed_(renamedVariables(*callable.definition, skips_unset)) {}

  TranslatedFunction translate();
  // Whether a variable that kept its value, because it was not to be assigned one that nobody reads, has another type.
  bool hasMixedTypes() const { return has_mixed_types_; }

 private:
  // What a name of the source stands for.
  struct Variable {
    Expression value{};      // how it is read
    std::string function{};  // the qualified name, if it is another name of a function
    bool is_text = false;    // [value] is put in its place
    bool is_unset = false;   // nobody reads its value
    std::string scope{};     // `no_grad()`, if it is one of PyTorch's context managers
    const Block* forked = nullptr;
  };

  // How the scope of a torch.amp.autocast begins, until __init__ completes it.
  static constexpr std::string_view kAutocastScope = "autocast(";
  // What is longer has a line of its own.
  static constexpr size_t kLongestMoved = 90;

  // The assignment that is a line.
  struct Assigned {
    std::string variable{};  // its name in the source
    std::string target{};
    Expression value{};
    std::string line{};
  };

  // ---- Statements (block_text.cpp, statement_text.cpp, branch_text.cpp) ----
  void block(const Block& statements, size_t begin = 0);
  void statement(const Stmt& statement, const Stmt* next);
  void assign(const Stmt& statement, const Stmt* next);
  void assignTo(const Expr& target, Expression value);
  void unpack(const Stmt& statement);
  void evaluate(const Expr& expr);
  void branch(const Stmt& statement, const Stmt* next);
  void loop(const Stmt& statement);
  // Returns the statement that begins the body of a loop over a list's indices, and reads the list's item: `k = xs[i]`;
  // null if it is another loop, or if the list might change meanwhile.
  const Stmt* itemOf(const Stmt& loop) const;
  bool isNewList(const std::string& variable) const;
  bool mayChangeLists(const Expr& expr) const;
  bool mayChangeLists(const Block& statements) const;
  void withScope(const Stmt& statement);
  void giveBack(const Stmt& statement);
  // Writes `if c { t = a } else { t = b }` as one line. Returns false if that is not what it is.
  bool assignOfBranches(const Expression& condition, const Assigned& chosen, const Assigned& other, const Stmt* next);
  // Notes that a variable of the script has got a value.
  void noteAssigned(const std::string& target, TypePtr type);
  // Whether an assignment of a value that nobody reads is left out.
  bool isSkipped(const Expr& value, const std::string& target);
  // Keeps of what is known what is known after another path, too.
  void joinWith(const std::map<std::string, TypePtr, std::less<>>& has_value);
  // Writes an assignment to a variable.
  void assignLine(const std::string& variable, const std::string& target, const Expression& value);
  bool isRaised(const Stmt& statement);
  void line(std::string text) { lines_.push_back(std::move(text)); }
  // Whether a name is one that PyTorch made up: `_12`.
  static bool isTemporary(std::string_view name);
  // Several temporaries that one statement reads, one after the other: makes them texts, and returns where that
  // statement is. Returns [begin] if there are none.
  size_t holdTemporaries(const Block& statements, size_t begin);
  bool canHold(const Stmt& statement) const;
  // Assigns texts to their variables after all, before the lines from [line_number] on.
  void writeHeld(const std::vector<const Stmt*>& held, size_t line_number);
  // Writes a list, and what is appended to it at once, as one; returns what follows, or [begin] if it is no such list.
  size_t fillList(const Block& statements, size_t begin);
  // Whether what was just translated is a field that nothing writes.
  bool isConstantField(const Expr& value, const Expression& text) const;
  // Translates a statement that reads such a field; returns false, and does nothing, for another.
  bool readsField(const Stmt& statement);
  // Whether a statement returns [name], or takes it apart, and does nothing else.
  bool isAllOf(const Stmt& statement, const std::string& name) const;
  // Whether [name] can be put where the next statement reads it.
  bool canMove(const std::string& name, const Stmt* next) const;
  std::string newName(std::string_view wanted);
  // Returns values in the branches that they come from.
  void returnFromBranches();
  // Removes declarations of containers that stand for no value, and are not read.
  void removeUnread();
  // Returns the name of a variable of the source in the script.
  std::string nameOf(const std::string& variable);
  Variable& declare(const std::string& name, TypePtr type);
  void countUses(const Block& statements, int by = 1);
  void countUses(const Expr& expr, int by);
  // Of statements that never run.
  void forgetUses(const Block& statements) { countUses(statements, -1); }

  // ---- Expressions (expression_text.cpp) ----
  Expression expression(const Expr& expr);
  Expression name(const Expr& expr);
  Expression attribute(const Expr& expr);
  Expression fieldOf(const Expression& object, const ClassInfo& its_class, const std::string& field);
  Expression index(const Expr& expr);
  Expression list(const Expr& expr, TypePtr type = nullptr);
  Expression tuple(const Expr& expr);
  Expression dict(const Expr& expr, TypePtr type = nullptr);
  Expression call(const Expr& expr);
  Expression callMethod(const Expression& object, const std::string& method, const Expr& call);
  Expression callNamed(const std::string& callee, const Expr& call);
  Expression callFunction(const FunctionInfo& function, const Expr& call);
  Expression construct(const ClassInfo& its_class, const Expr& call);
  Expression makeUnset(const ClassInfo& its_class);
  Expression cast(const Expr& value, TypePtr type);
  Expression annotated(const Expr& value, TypePtr type);
  Expression waitFor(const Expr& call);
  std::string argumentTexts(const Expr& call);
  // Returns [scope] with the arguments of autocast's [init].
  std::string autocastText(std::string scope, const Expr& init);
  // What has no form in a script.
  Expression missing(const std::string& what, uint32_t line);
  // An expression that is a literal wherever it stands; null if it is none.
  const Expr* literalOf(const Expr& expr) const;
  // Returns a variable that holds [value].
  std::string kept(const Expression& value, std::string_view wanted);

  // ---- Calls of operators (operator_text.cpp, container_text.cpp) ----
  // The arguments of a call of an operator, each translated once.
  struct OperatorArguments {
    const Expr& call;
    std::vector<Expression> values;  // those by position
    std::vector<size_t> order{};

    size_t count() const { return values.size(); }
    const Expression& operator[](size_t i) const { return values[i]; }
    // The argument of the call that value [i] is of, if some were left out.
    const Expr& source(size_t i) const { return *call.items[(order.empty() ? i : order[i]) + 1]; }
    std::string text() const;  // "a, b"
  };
  using Found = std::optional<Expression>;
  Expression callOperator(std::string_view space, const std::string& name, const Expr& call);
  Found primCall(std::string_view name, const OperatorArguments& arguments);
  Found generalCall(std::string_view name, const OperatorArguments& arguments);
  Found signCall(std::string_view name, const OperatorArguments& arguments);
  Found tensorCall(std::string_view space, std::string_view name, const OperatorArguments& arguments);
  Found tracedConvolution(const OperatorArguments& arguments);
  Found libraryCall(std::string_view name, const OperatorArguments& arguments);
  Found makeTensor(const OperatorArguments& arguments);
  Found numberCall(std::string_view name, const OperatorArguments& arguments);
  Found listCall(std::string_view name, const OperatorArguments& arguments);
  // What an operator was in older versions of the format.
  Found olderCall(std::string_view name, const OperatorArguments& arguments);
  Found gradientCall(const OperatorArguments& arguments);
  Found sortedObjects(std::string_view name, const OperatorArguments& arguments);
  Found dictCall(std::string_view name, const OperatorArguments& arguments);
  Found stringCall(std::string_view name, const OperatorArguments& arguments);
  Found sliceOf(const OperatorArguments& arguments);
  Found complexCall(std::string_view name, const OperatorArguments& arguments);
  Expression formatted(const OperatorArguments& arguments);
  Expression percentFormatted(const OperatorArguments& arguments);
  // Returns the text of the first argument, if the source has it as a string.
  std::optional<std::string> literalText(const OperatorArguments& arguments) const;
  std::vector<Expression> positional(const Expr& call);
  // An int that stands for a dtype, a layout or a memory format.
  Expression asNamed(Expression value, const Expr& source, TypePtr type);

  Translation& translation_;
  CompilationUnit& unit_;
  const Callable& callable_;
  std::vector<std::string> lines_;
  Assigned assigned_;  // last
  // What is known where the statement runs: variables of the script that have a value, with its type, null if it has
  // several, and those of which the language knows that they are not None.
  std::map<std::string, TypePtr, std::less<>> has_value_;
  std::set<std::string, std::less<>> not_none_;
  std::set<std::string> skipped_;  // variables that kept their values
  bool has_mixed_types_ = false;
  std::vector<std::string> unset_names_;  // containers that nobody reads
  std::unordered_map<std::string, Variable> variables_;
  std::unordered_map<std::string, size_t> uses_;
  std::unordered_map<std::string, size_t> definitions_;
  std::unordered_map<std::string, const Expr*> value_;  // what was assigned last in the source
  std::set<std::string, std::less<>> names_;
  const bool skips_unset_;
  const std::unordered_map<std::string, std::string> renamed_;  // variables that share a name
  std::unordered_map<std::string, std::string> shared_;         // those names as they are in the script
  TypePtr result_ = nullptr;
  int branches_ = 0;  // around the statement
  int forks_ = 0;
  bool constant_field_ = false;  // whether the field that was read last is never written
};

}  // namespace boxcar::interp::torchscript
