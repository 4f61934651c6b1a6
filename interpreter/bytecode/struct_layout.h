#pragma once

// What the values of a struct hold. The type of a struct is known by its whole layout: its name, the script that
// declares it, and its fields' names and types, with the layouts of all structs that these lead to. So two structs of
// one name are two types, and a script that is compiled again has the same types if its structs are the same.

#include <boxcar/schema/type.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar::interp {

struct StructField {
  std::string name;
  TypePtr type = nullptr;
};

struct StructLayout {
  std::string name;
  std::string source;  // the name of the script
  std::vector<StructField> fields;
  TypePtr type = nullptr;

  std::optional<uint16_t> indexOf(std::string_view field) const noexcept;
};

// A struct before its type is made. Types of fields may contain placeholders.
struct StructDraft {
  std::string name;
  std::string source;
  std::vector<StructField> fields;
};

// Returns a type that stands for draft [index], which is called [name], in the fields of drafts.
TypePtr placeholderStruct(size_t index, std::string_view name);

// Returns the layouts of [drafts], which are never freed: equal drafts have one layout, and so one type.
std::vector<const StructLayout*> makeStructs(std::span<const StructDraft> drafts);

// Returns the layout that a struct's type has; null for other types.
const StructLayout* layoutOf(TypePtr type) noexcept;

// Calls [visit] for each struct that [type] contains.
void eachStruct(TypePtr type, const std::function<void(TypePtr)>& visit);

// What a message adds if [wanted] and [found] look equal but contain structs of one name: which scripts they are of.
// Empty otherwise.
std::string namesakeNote(TypePtr wanted, TypePtr found);

// Returns [type] with each struct in it replaced by what [replace] returns.
TypePtr replaceStructs(TypePtr type, const std::function<TypePtr(TypePtr)>& replace);

}  // namespace boxcar::interp
