#!/bin/bash
# Trains the Korean reader on a machine with a GPU. gpu.md says in which order to call it, in the root of a copy of the
# checkout. W outlives one command; M is the teacher's model. P, Q, T, L, D and F are options that every pre-training,
# generating, teacher, teacher that leaves a corpus out, distilling and fine-tuning is given.
set -euo pipefail
W=${W:-$HOME/reader} M=${M:-$HOME/w/model.gguf} P=${P:---minutes 6.5} Q=${Q:-} T=${T:-} L=${L:-} D=${D:-} F=${F:-}
NSMC=${NSMC:-150000} PY=${PY:-python3} OUT=${OUT:-$W/brought}
code=$W/code/training/reader out=$W/out
mkdir -p "$W/code" "$out" "$OUT"
export OMP_NUM_THREADS=2 PYTHONUNBUFFERED=1 PYTHONPATH=$W/site PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True

background() {
  W=$W M=$M P=$P Q=$Q T=$T L=$L D=$D F=$F NSMC=$NSMC PY=$PY OUT=$W/brought \
    setsid nohup bash "$code/gpu.sh" "$@" </dev/null >>"$W/log" 2>&1 &
}
ended() { [ -e "$out/$1.done" ] || [ -e "$out/$1.failed" ]; }
step() { # NAME COMMAND...: run it unless it is done, and note how it ended; a step that failed stops its lane
  [ ! -e "$out/$1.done" ] || return 0
  echo "== $1 begins $(date +%T)"
  if "${@:2}" 2>&1; then touch "$out/$1.done"; else touch "$out/$1.failed"; fi
  echo "== $1 ends $(date +%T)"
  [ -e "$out/$1.done" ]
}
after() { # NAME...: wait until each has ended; fail unless each is done
  for name in "$@"; do
    until ended "$name"; do sleep 1; done
    [ -e "$out/$name.done" ] || { echo "nothing after $name, which failed"; return 1; }
  done
}
teacher() { "$PY" "$code/teacher.py" "$1" "$W/reader.json.xz" "$M" "${@:2}"; }
student() { "$PY" "$code/finetune.py" "$W/reader.json.xz" ko "$W/ko.tokenizer.json" "$@"; }
finetuned() { # NAME START OPTIONS...
  # shellcheck disable=SC2086
  step "$1" student "$2" "$out/$1" --rate 1.5e-4 --epochs 4 --seconds 75 "${@:3}" $F
}
brought() { # NAME...: weights in parts of 16 MB; all readings, the log, the generated texts
  for name in "$@"; do
    [ ! -e "$out/$name.safetensors" ] || split -b 16000000 -d "$out/$name.safetensors" "$OUT/$name.safetensors."
  done
  [ ! -e "$out/generated.json" ] || xz -T4 -1 -kf "$out/generated.json"
  (cd "$W" && find log out \( -name log -o -name '*.readings.jsonl.gz' -o -name generated.json.xz \) |
    tar -czf "$OUT/readings.tar.gz" -T -)
}

case $1 in
keep) # FOLDER: what this call brought stays for the next ones
  cp -r "$2"/* "$W/" && ls -l "$W"
  if command -v nvidia-cuda-mps-control >/dev/null; then nvidia-cuda-mps-control -d || true; fi ;;
pretrain) # in the background
  background lane_pretrain ;;
teach) # everything behind the model, in the background, once its sha256 is that of W/model.sha256
  (cd "$(dirname "$M")" && sha256sum -c "$W/model.sha256")
  background lane_generate
  background lane_main ;;
lane_pretrain)
  # shellcheck disable=SC2086
  step pretrain "$PY" "$code/pretrain.py" "$W"/reviews.txt.* "$W/reader.json.xz" "$W/ko.tokenizer.json" \
    "$W/body.start.safetensors" "$out/ko.pretrained.safetensors" --classes "$W/classes.txt.xz" $P
  # Without a teacher, to see what the teacher brings.
  finetuned ko_alone "$out/ko.pretrained.safetensors" --rate 3e-4 ;;
lane_generate)
  # shellcheck disable=SC2086
  step generated "$PY" "$code/generator.py" "$W/reader.json.xz" "$M" "$out/generated.json" \
    --seconds 75 --write-seconds 130 $Q ;;
lane_main)
  # shellcheck disable=SC2086
  step teacher teacher train "$out/teacher" --seconds 210 $T
  step taught_train teacher teach "$out/taught_train.npz" "$out/teacher.pt" &
  step taught_film teacher teach "$out/taught_film.npz" "$out/teacher.pt" --reviews "$W"/reviews.txt.* --most "$NSMC" &
  after generated
  step taught_texts teacher teach "$out/taught_texts.npz" "$out/teacher.pt" --texts "$out/generated.json"
  after taught_train taught_film pretrain
  (background lane_left coursera hotel sight; background lane_left food phone)
  # shellcheck disable=SC2086
  step ko_distilled student "$out/ko.pretrained.safetensors" "$out/ko_distilled" --taught "$out/taught_train.npz" \
    --pool "$out/taught_texts.npz" "$out/taught_film.npz" --rate 5e-4 --batch 128 --epochs 8 --seconds 150 $D
  seeds=()
  for seed in 1 2 3 4; do
    seeds+=("$out/ko_taught_seed$seed.safetensors")
    finetuned "ko_taught_seed$seed" "$out/ko_distilled.safetensors" --taught "$out/taught_train.npz" --seed $seed &
  done
  after ko_taught_seed1 ko_taught_seed2 ko_taught_seed3 ko_taught_seed4
  step ko_taught_soup "$PY" "$code/soup.py" "$W/reader.json.xz" ko "$W/ko.tokenizer.json" "$out/ko_taught_soup" "${seeds[@]}" ;;
lane_left) # CORPUS...: teachers and readers that left a corpus out
  for corpus in "${@:2}"; do
    name=without_$corpus
    # shellcheck disable=SC2086
    step "teacher_$name" teacher train "$out/teacher_$name" --leave-out "$corpus" --epochs 2 --film 1500 --seconds 100 $L
    step "train_$name" teacher teach "$out/train_$name.npz" "$out/teacher_$name.pt"
    step "pool_$name" teacher teach "$out/pool_$name.npz" "$out/teacher_$name.pt" --leave-out "$corpus" \
      --texts "$out/generated.json" --reviews "$W"/reviews.txt.* --most $((NSMC / 4))
    rm -f "$out/teacher_$name.pt"
    # shellcheck disable=SC2086
    step "distilled_$name" student "$out/ko.pretrained.safetensors" "$out/distilled_$name" --leave-out "$corpus" \
      --taught "$out/train_$name.npz" --pool "$out/pool_$name.npz" --rate 5e-4 --batch 128 --epochs 6 --seconds 70 $D
    finetuned "ko_$name" "$out/distilled_$name.safetensors" --leave-out "$corpus" --taught "$out/train_$name.npz"
    rm -f "$out/train_$name.npz" "$out/pool_$name.npz"
  done ;;
wait) # SECONDS NAME...: until each has ended, or the time is over; readings and log come back with every call
  for _ in $(seq "$2"); do
    left=0
    for name in "${@:3}"; do ended "$name" || left=$((left + 1)); done
    [ "$left" = 0 ] && break
    sleep 1
  done
  tail -n "${LINES_TOLD:-60}" "$W/log" | cut -c1-150
  (cd "$out" && find . -name '*.done' -o -name '*.failed' | sort | tr '\n' ' ')
  brought ;;
bring) # NAME...: weights as well
  brought "${@:2}"
  ls -l "$OUT" ;;
esac
