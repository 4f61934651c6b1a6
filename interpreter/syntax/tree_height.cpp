#include <boxcar/interpreter/syntax/tree_height.h>

#include <algorithm>

namespace boxcar::syntax {
namespace {

namespace variant2 = boost::variant2;

struct ChildHeight {
  uint32_t height = 0;

  void add(const ExprPtr& child) {
    if (child) height = std::max(height, child->height);
  }
  void add(const std::vector<ExprPtr>& children) {
    for (const ExprPtr& child : children) add(child);
  }
  void add(const std::vector<Argument>& arguments) {
    for (const Argument& argument : arguments) add(argument.value);
  }

  template <class Leaf>
  void operator()(const Leaf&) {}
  void operator()(const FormattedString& node) {
    for (const auto& part : node.parts) {
      if (const auto* field = variant2::get_if<FormatField>(&part)) add(field->value);
    }
  }
  void operator()(const ListLiteral& node) { add(node.items); }
  void operator()(const TupleLiteral& node) { add(node.items); }
  void operator()(const DictLiteral& node) {
    for (const DictItem& item : node.items) {
      add(item.key);
      add(item.value);
    }
  }
  void operator()(const Comprehension& node) {
    add(node.element);
    for (const ComprehensionClause& clause : node.clauses) {
      add(clause.targets.items);
      add(clause.iterable);
      add(clause.conditions);
    }
    height += static_cast<uint32_t>(node.clauses.size()) - 1;  // each loop is inside the one before
  }
  void operator()(const Unary& node) { add(node.operand); }
  void operator()(const Binary& node) {
    add(node.left);
    add(node.right);
  }
  void operator()(const Logical& node) { add(node.operands); }
  void operator()(const Comparison& node) {
    add(node.first);
    for (const ComparisonLink& link : node.links) add(link.operand);
  }
  void operator()(const Conditional& node) {
    add(node.condition);
    add(node.value);
    add(node.otherwise);
  }
  void operator()(const Attribute& node) { add(node.object); }
  void operator()(const Call& node) { add(node.arguments); }
  void operator()(const MethodCall& node) {
    add(node.object);
    add(node.arguments);
  }
  void operator()(const Index& node) {
    add(node.object);
    add(node.index);
  }
  void operator()(const Slice& node) {
    add(node.start);
    add(node.stop);
    add(node.step);
  }
};

}  // namespace

uint32_t heightOfChildren(const Expr::Node& node) {
  ChildHeight children;
  variant2::visit([&](const auto& alternative) { children(alternative); }, node);
  return children.height;
}

}  // namespace boxcar::syntax
