#!/usr/bin/env bash
# An imported network that tells shapes apart learns to read at least 280 of 297 digits: finetune_test.sh BOXCAR SCRIPT
set -eu
output=$("$1" run "$2" | tail -n 1)
echo "$output"
[[ $output =~ ^correct\ ([0-9]+)\ of\ 297$ ]] && ((BASH_REMATCH[1] >= 280))
