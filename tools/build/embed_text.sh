#!/bin/sh
# embed_text.sh INPUT OUTPUT FUNCTION
# Writes a C++ source whose FUNCTION returns the text of INPUT as a std::string_view.
set -eu
namespace=${3%::*}
{
    printf '// Made from %s.\n#include <string_view>\n\n' "$(basename "$1")"
    printf 'namespace %s {\n\nstd::string_view %s() {\n    return R"embedded(' "$namespace" "${3##*::}"
    cat "$1"
    printf ')embedded";\n}\n\n}  // namespace %s\n' "$namespace"
} >"$2"
