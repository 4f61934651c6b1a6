#!/usr/bin/env bash
# The text's network is trained, its state is kept, and it goes on with it, on a DEVICE if one is named:
# train_gpt_test.sh BOXCAR SCRIPT [DEVICE]
set -eu
device=${3:-cpu}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
first=$("$1" run "$2" 3 "$folder/gpt" "$device" | tr '\r' '\n')
[[ -s $folder/gpt.safetensors && $(head -c 4 "$folder/gpt.svg") == "<svg" ]]
# The picture has all steps, also those before the training was stopped.
is_drawn() {
  grep -q "<text x='60' y='280'>1</text>" "$folder/gpt.svg" && grep -q "text-anchor='end'>$1</text>" "$folder/gpt.svg"
}
is_drawn 3
# The loss of the first step is that of characters that are equally likely; it falls.
before=$(sed -n 's/.*loss //p' <<< "$first" | head -n 1 | tr -d ' ')
second=$("$1" run "$2" 12 "$folder/gpt" "$device" | tr '\r' '\n')
is_drawn 12
after=$(sed -n 's/.*loss //p' <<< "$second" | tail -n 1 | tr -d ' ')
echo "loss $before, then $after"
[[ $(sed -n 's/.*loss //p' <<< "$second" | wc -l) -eq 9 ]]
[[ $(tail -n 1 <<< "$second") == "the old "* ]]
awk -v a="$after" -v b="$before" 'BEGIN { exit !(a < b) }'
