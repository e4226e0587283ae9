#!/bin/bash
# Trains both readers on a machine with a GPU. gpu.md says in which order to call it, in the root of a copy of the checkout.
# W outlives one command; E is what every fine-tuning is given, P what every pre-training is given.
set -eu
W=${W:-$HOME/reader} E=${E:-} P=${P:---minutes 12 --compile}
code=$W/code/training/reader out=$W/out
mkdir -p "$W/code" "$out"
export OMP_NUM_THREADS=2

background() { PYTHONUNBUFFERED=1 W=$W E=$E P=$P setsid nohup bash "$code/gpu.sh" "$@" </dev/null >>"$W/log" 2>&1 & }

finetuned() { # NAME: LANGUAGE_KIND_seedN or LANGUAGE_KIND_without_CORPUS_seedN
  local language=${1%%_*} kind more="" tokens
  kind=${1#*_} kind=${kind%%_*}
  tokens=${language}_$kind
  local start=$out/$tokens.pretrained.safetensors
  case $language in
  en) tokens=en start=$W/en.start.safetensors more="--rate 2e-4 --epochs 5" ;;
  ko) more="--rate 3e-4 --epochs 4" ;;
  esac
  case $1 in *_without_*) more="$more --leave-out $(echo "${1##*_without_}" | cut -d_ -f1)" ;; esac
  # shellcheck disable=SC2086
  python3 "$code/finetune.py" "$W/reader.json.xz" "$language" "$W/$tokens.tokenizer.json" "$start" "$out/$1" \
    --seed "${1##*_seed}" $more $E
}

done_or_failed() { # NAME COMMAND...
  if "${@:2}"; then touch "$out/$1.done"; else touch "$out/$1.failed"; fi
}

case $1 in
keep) # FOLDER: what this call brought stays for the next ones
  cp -r "$2"/* "$W/" && ls -l "$W"
  if command -v nvidia-cuda-mps-control >/dev/null; then nvidia-cuda-mps-control -d || true; fi ;;
finetune) # NAME...: one after the other, in the background; call it several times for several at a time
  background lane "${@:2}" ;;
lane) for name in "${@:2}"; do [ -e "$out/$name.done" ] || done_or_failed "$name" finetuned "$name"; done ;;
pretrain) # KIND: characters or pieces, in the background
  background pretrained "$2" ;;
pretrained)
  # shellcheck disable=SC2086
  done_or_failed "$2" python3 "$code/pretrain.py" "$W"/reviews.txt.xz "$W/reader.json.xz" "$W/ko_$2.tokenizer.json" \
    "$W/en.start.safetensors" "$out/ko_$2.pretrained.safetensors" --classes "$W/classes.txt.xz" $P ;;
soup) # NAME READER...: the mean of some readers; a NAME with _without_CORPUS reads that corpus alone
  tokens=$(echo "$2" | cut -d_ -f1-2) readers=() language=${2%%_*}
  [ "$language" = en ] && tokens=en
  for name in "${@:3}"; do readers+=("$out/$name.safetensors"); done
  left=$(case $2 in *_without_*) echo "--leave-out $(echo "${2##*_without_}" | cut -d_ -f1)" ;; esac)
  # shellcheck disable=SC2086
  python3 "$code/soup.py" "$W/reader.json.xz" "$language" "$W/$tokens.tokenizer.json" "$out/$2" "${readers[@]}" $left 2>&1 |
    tee -a "$W/log" ;;
wait) # SECONDS NAME...: until each has ended, or the time is over
  for _ in $(seq "$2"); do
    left=0
    for name in "${@:3}"; do ls "$out/$name".done "$out/$name".failed >/dev/null 2>&1 || left=$((left + 1)); done
    [ "$left" = 0 ] && break
    sleep 1
  done
  ls "$out"; tail -n "${LINES_TOLD:-40}" "$W/log" ;;
bring) # NAME...: weights in parts of 16 MB; all readings and the log
  for name in "${@:2}"; do split -b 16000000 -d "$out/$name.safetensors" "$OUT/$name.safetensors."; done
  (cd "$W" && tar -czf "$OUT/readings.tar.gz" log out/*.readings.jsonl.gz) && ls -l "$OUT" ;;
esac
