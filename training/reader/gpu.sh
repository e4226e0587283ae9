#!/bin/bash
# Trains both readers on a machine with a GPU, in the root of a copy of the checkout. gpu.md says in which order to call it.
# W outlives one command; E is what every fine-tuning is given, P what every pre-training is given.
set -eu
W=${W:-$HOME/reader} E=${E:-} P=${P:---minutes 13 --compile}
code=$W/code/training/reader out=$W/out
mkdir -p "$W/code" "$out"

background() { PYTHONUNBUFFERED=1 W=$W E=$E P=$P setsid nohup bash "$code/gpu.sh" "$@" </dev/null >>"$W/log" 2>&1 & }

finetuned() { # NAME: LANGUAGE_KIND_seedN or LANGUAGE_KIND_without_CORPUS
  local language=${1%%_*} kind start=$out/ko_characters.pretrained.safetensors more="--rate 3e-4 --epochs 4"
  kind=${1#*_} kind=${kind%%_*}
  local tokens=ko_characters
  case ${language}_$kind in
  en_plain) tokens=en start=$W/en.start.safetensors more="--rate 2e-4 --epochs 5" ;;
  ko_cold) start=$W/body.start.safetensors ;;
  ko_pieces) tokens=ko_pieces start=$out/ko_pieces.pretrained.safetensors ;;
  ko_classes) more="$more --classes" ;;
  esac
  case $1 in
  *_without_*) more="$more --leave-out ${1##*_without_}" ;;
  *_seed*) more="$more --seed ${1##*_seed}" ;;
  esac
  # shellcheck disable=SC2086
  python3 "$code/finetune.py" "$W/reader.json.xz" "$language" "$W/$tokens.tokenizer.json" "$start" "$out/$1" $more $E
}

case $1 in
keep) # FOLDER: what this call brought stays for the next ones
  cp "$2"/* "$W/" && cp -r training benchmarks "$W/code/" && ls -l "$W"
  if command -v nvidia-cuda-mps-control >/dev/null; then nvidia-cuda-mps-control -d || true; fi ;;
finetune) # NAME...: one after the other, in the background; call it several times for several at a time
  background lane "${@:2}" ;;
lane) for name in "${@:2}"; do finetuned "$name" && touch "$out/$name.done" || touch "$out/$name.failed"; done ;;
pretrain) # KIND: characters or pieces, in the background
  background pretrained "$2" ;;
pretrained)
  # shellcheck disable=SC2086
  python3 "$code/pretrain.py" "$W"/reviews.txt.* "$W/reader.json.xz" "$W/ko_$2.tokenizer.json" "$W/body.start.safetensors" \
    "$out/ko_$2.pretrained.safetensors" $P && touch "$out/$2.done" || touch "$out/$2.failed" ;;
wait) # SECONDS NAME...: until each has ended, or the time is over
  for _ in $(seq "$2"); do
    left=0
    for name in "${@:3}"; do ls "$out/$name".done "$out/$name".failed >/dev/null 2>&1 || left=$((left + 1)); done
    [ "$left" = 0 ] && break
    sleep 1
  done
  ls "$out"; tail -n 40 "$W/log" ;;
bring) # NAME...: weights in parts of 16 MB; all readings and the log
  for name in "${@:2}"; do split -b 16000000 -d "$out/$name.safetensors" "$OUT/$name.safetensors."; done
  tar -C "$W" -czf "$OUT/readings.tar.gz" log $(cd "$W" && ls out/*.readings.jsonl.gz) && ls -l "$OUT" ;;
esac
