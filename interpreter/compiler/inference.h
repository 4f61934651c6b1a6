#pragma once

#include <boxcar/interpreter/compiler/builtin_resolver.h>
#include <boxcar/interpreter/compiler/call_resolver.h>
#include <boxcar/interpreter/compiler/converter.h>
#include <boxcar/interpreter/compiler/declarations.h>
#include <boxcar/interpreter/compiler/environment.h>
#include <boxcar/interpreter/compiler/findings.h>
#include <boxcar/interpreter/compiler/inference_context.h>
#include <boxcar/interpreter/compiler/loop_tracker.h>
#include <boxcar/interpreter/compiler/operator_checker.h>
#include <boxcar/interpreter/compiler/typed_argument.h>
#include <boxcar/interpreter/compiler/typed_program.h>
#include <boxcar/interpreter/runtime/overload.h>
#include <boxcar/interpreter/syntax/ast.h>
#include <boxcar/interpreter/syntax/diagnostic.h>

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace boxcar::interp {

// Infers the types of one function's body, or of a script's statements, and builds the typed program. Types follow the
// control flow; passes over loops repeat until what is known at their begin no longer changes.
class Inference {
 public:
  // [function] is null for the script's statements. Findings go to [findings] if it is not null. [outline]: for the
  // statements of a session's input; it is filled in here.
  Inference(Declarations& declarations, const ScriptFunction* function, Diagnostics& diagnostics,
            Findings* findings = nullptr, InputOutline* outline = nullptr);

  typed::Function run(const std::vector<syntax::StmtPtr>& statements, Span span);

 private:
  struct Condition {
    typed::ExprPtr value;  // bool
    Facts if_true;
    Facts if_false;
  };

  // ---- inference.cpp: passes, names, small things ----
  void beginPass();
  // Ends an input: its statements return the values of its variables, and the value of the last statement.
  void finishInput(const std::vector<syntax::StmtPtr>& statements, Span span, typed::Block& out);
  void declareNames(const std::vector<syntax::StmtPtr>& statements);
  void declareTargets(const syntax::Targets& targets);
  void declareName(const syntax::Name& name);
  void declareType(const syntax::TypedAssign& assign);

  // ---- expressions ----
  typed::ExprPtr infer(const syntax::Expr& expr);
  typed::ExprPtr inferNode(const syntax::Expr& expr);
  typed::ExprPtr infer(const syntax::ListLiteral& list, Span span);
  typed::ExprPtr infer(const syntax::TupleLiteral& tuple, Span span);
  typed::ExprPtr infer(const syntax::DictLiteral& dict, Span span);
  typed::ExprPtr infer(const syntax::FormattedString& string, Span span);
  typed::ExprPtr infer(const syntax::Comprehension& comprehension, Span span);
  typed::ExprPtr infer(const syntax::NameRef& ref, Span span);
  // Returns a dtype, a layout or a memory format; null if none has that name.
  typed::ExprPtr namedByTorch(std::string_view name, Span span);
  // Whether [expr] is the `torch` of `torch.float32`, which is how tensors show their dtypes.
  bool isTorch(const syntax::Expr& expr) const;
  typed::ExprPtr infer(const syntax::Conditional& conditional, Span span);
  typed::ExprPtr infer(const syntax::Attribute& attribute, Span span);
  // Emits the loops of [comprehension] from clause [clause] on, which append to the list in [list].
  void inferClauses(const syntax::Comprehension& comprehension, size_t clause, typed::Target list,
                    TypePtr& element_type, typed::Block& out);
  TypePtr commonType(std::span<const typed::ExprPtr> items, size_t first = 0, size_t step = 1) const;

  typed::ExprPtr infer(const syntax::Unary& unary, Span span);
  typed::ExprPtr infer(const syntax::Binary& binary, Span span);

  // ---- conditions ----
  Condition condition(const syntax::Expr& expr);
  Condition condition(const syntax::Logical& logical, Span span);
  Condition condition(const syntax::Comparison& comparison, Span span);
  typed::ExprPtr comparison(const syntax::Comparison& comparison, Span span);
  Condition isInstance(const syntax::Call& call, Span span);
  std::optional<typed::VariableId> narrowable(const syntax::Expr& expr) const;

  // ---- calls ----
  typed::ExprPtr infer(const syntax::Call& call, Span span);
  typed::ExprPtr infer(const syntax::MethodCall& call, Span span);
  std::vector<TypedArgument> inferArguments(const std::vector<syntax::Argument>& arguments);
  typed::ExprPtr anyMethod(const syntax::Name& method, const OverloadSet* operators,
                           std::vector<TypedArgument> arguments, Span span);
  static bool isTensorOperator(std::string_view name, std::span<const TypedArgument> arguments);

  // ---- indexing ----
  typed::ExprPtr infer(const syntax::Index& index, Span span);
  typed::ExprPtr element(typed::ExprPtr object, typed::ExprPtr index, Span span);
  typed::ExprPtr slice(typed::ExprPtr object, const syntax::Slice& slice, Span span);
  typed::ExprPtr tupleElement(typed::ExprPtr object, typed::ExprPtr index, Span span);
  typed::ExprPtr sliceBound(const syntax::ExprPtr& bound, Span span, std::string_view what);
  TypePtr sliceOfTuple(TypePtr tuple, const typed::Expr& start, const typed::Expr& stop, const typed::Expr& step) const;
  struct TensorIndex {
    typed::ExprPtr view = nullptr;      // the view after ints, slices and Nones
    typed::ExprPtr indices = nullptr;   // Tensor?[] into the view, null if no tensor indexes
    std::vector<typed::ExprPtr> parts;  // or the whole index, if only the run knows it: its form, then its values
  };
  // A part of an index of a tensor.
  struct IndexPart {
    char letter = 'v';                   // `v` a value, `:` a slice, `.` the ellipsis
    std::vector<typed::ExprPtr> values;  // of a slice: start, stop and step
    Span span;
  };
  std::optional<std::vector<IndexPart>> indexParts(const syntax::Expr& index);
  typed::ExprPtr asTensor(typed::ExprPtr index);
  typed::ExprPtr viewOf(typed::ExprPtr view, IndexPart& part, int64_t& passed, bool is_from_end, Span span);
  typed::ExprPtr partsElement(typed::ExprPtr view, std::vector<typed::ExprPtr> parts, Span span);
  TensorIndex tensorIndex(typed::ExprPtr object, const syntax::Expr& index, Span span);
  typed::ExprPtr tensorElement(typed::ExprPtr object, const syntax::Expr& index, Span span);

  // ---- statements ----
  void infer(const std::vector<syntax::StmtPtr>& statements, typed::Block& out);
  void infer(const syntax::Stmt& statement, typed::Block& out);
  void infer(const syntax::Assign& assign, Span span, typed::Block& out);
  void infer(const syntax::TypedAssign& assign, Span span, typed::Block& out);
  void infer(const syntax::AugmentedAssign& assign, Span span, typed::Block& out);
  void infer(const syntax::If& statement, Span span, typed::Block& out);
  void infer(const syntax::While& statement, Span span, typed::Block& out);
  void infer(const syntax::For& statement, Span span, typed::Block& out);
  void infer(const syntax::Return& statement, Span span, typed::Block& out);
  void infer(const syntax::Assert& statement, Span span, typed::Block& out);
  void infer(const syntax::Const& statement, Span span, typed::Block& out);
  void infer(const syntax::With& statement, Span span, typed::Block& out);
  void infer(const syntax::Impl& statement, Span span, typed::Block& out);
  void infer(const syntax::Fallback& statement, Span span, typed::Block& out);
  void infer(const syntax::Import& statement, Span span, typed::Block& out);
  std::optional<typed::Scope> scope(const syntax::Expr& expr);
  std::optional<DispatchKeySet> scopeKeys(const syntax::Call& call);
  void assign(const syntax::Expr& target, typed::ExprPtr value, Span span, typed::Block& out);
  void assignVariable(const syntax::Name& name, typed::ExprPtr value, Span span, typed::Block& out);
  void assignIndex(const syntax::Index& target, typed::ExprPtr value, Span span, typed::Block& out);
  void assignAll(const syntax::Targets& targets, typed::ExprPtr value, Span span, typed::Block& out);
  void unpack(const syntax::Targets& targets, typed::ExprPtr value, Span span, typed::Block& out);
  void setTensorIndex(TensorIndex place, typed::ExprPtr value, Span span, typed::Block& out);
  typed::ExprPtr updated(syntax::BinaryOp op, typed::ExprPtr old, typed::ExprPtr value, Span span);
  void updateIndex(const syntax::Index& target, const syntax::AugmentedAssign& assign, Span span, typed::Block& out);
  static bool changesInPlace(syntax::BinaryOp op, TypePtr type);
  // Starts a loop over [iterable]; finishLoop adds its body.
  typed::Stmt::Node loopOver(const syntax::Expr& iterable);

  struct ArgumentVariable {
    std::string_view name;
    TypePtr type;
    typed::FieldNames fields;
  };

  InferenceContext context_;
  LoopTracker loops_{context_};
  Converter converter_{context_};
  CallResolver resolver_{context_, converter_};
  BuiltinResolver builtins_{context_, converter_};
  OperatorChecker operators_{context_, converter_, resolver_};
  std::vector<ArgumentVariable> arguments_;
  std::unordered_map<uint32_t, uint32_t> module_imports_;  // the import that calls the statements of a module
};

}  // namespace boxcar::interp
