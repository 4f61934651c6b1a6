#include <boxcar/interpreter/import/pt2/json.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace boxcar::interp::pt2::json {
namespace {

constexpr size_t kMostNesting = 256;

// Makes values of what nlohmann's parser tells.
class Builder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  value take() { return std::move(root_); }
  const std::string& problem() const noexcept { return problem_; }

  bool null() override { return put(value()); }
  bool boolean(bool flag) override { return put(value(flag)); }
  bool number_integer(int64_t number) override { return put(value(number)); }
  bool number_unsigned(uint64_t number) override {
    constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    return put(number <= kMost ? value(static_cast<int64_t>(number)) : value(static_cast<double>(number)));
  }
  bool number_float(double number, const std::string&) override { return put(value(number)); }
  bool string(std::string& text) override {
    const bool is_left_out = !open_.empty() && open_.back()->is_object() && isLeftOut(key_);
    return is_left_out || put(value(std::move(text)));
  }
  bool binary(binary_t&) override { return false; }
  bool start_object(size_t) override { return open(value(object())); }
  bool key(std::string& name) override {
    key_ = std::move(name);
    return true;
  }
  bool end_object() override { return close(); }
  bool start_array(size_t) override { return open(value(array())); }
  bool end_array() override { return close(); }
  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception&) override {
    problem_ = fmt::format("it is not JSON (at byte {})", position);
    return false;
  }

 private:
  // A fifth of an archive is what only PyTorch's own passes read.
  static bool isLeftOut(std::string_view key) {
    return key == "from_node" || key == "torch_fn" || key == "source_fn_stack";
  }

  value& place(value made) {
    if (open_.empty()) return root_ = std::move(made);
    if (open_.back()->is_array()) return open_.back()->get_array().emplace_back(std::move(made));
    return open_.back()->get_object().add(std::move(key_)) = std::move(made);
  }
  bool put(value made) {
    place(std::move(made));
    return true;
  }
  bool open(value made) {
    if (open_.size() >= kMostNesting) {
      problem_ = fmt::format("its JSON nests deeper than {}", kMostNesting);
      return false;
    }
    // What is open stays where it is: nothing is added beside it before it is closed.
    open_.push_back(&place(std::move(made)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  value root_;
  std::vector<value*> open_;
  std::string key_;
  std::string problem_;
};

}  // namespace

const value* object::if_contains(std::string_view key) const noexcept {
  for (const auto& [name, content] : members_) {
    if (name == key) return &content;
  }
  return nullptr;
}

value& object::add(std::string key) { return members_.emplace_back(member{std::move(key), value()}).content; }

value parse(std::string_view text, const std::string& what) {
  Builder builder;
  const bool is_read = nlohmann::json::sax_parse(text, &builder);
  BOXCAR_CHECK(is_read, "{}: {}", what, builder.problem().empty() ? "it is not JSON" : builder.problem());
  return builder.take();
}

}  // namespace boxcar::interp::pt2::json
