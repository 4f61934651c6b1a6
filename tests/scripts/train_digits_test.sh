#!/usr/bin/env bash
# The digits' network is trained from nothing to at least 285 of 297, on a DEVICE if one is named:
# train_digits_test.sh BOXCAR SCRIPT [DEVICE]
set -eu
output=$("$1" run "$2" 40 "" "${3:-cpu}" | tail -n 1)
echo "$output"
[[ $output =~ ^correct\ ([0-9]+)\ of\ 297$ ]] && ((BASH_REMATCH[1] >= 285))
