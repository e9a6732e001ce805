#!/bin/sh
# make demo-class: ten made-up submissions to a graded CSV. They are the
# solution of lab 02, its other right answers, its starter and classic wrong
# answers, under made-up names. Lands in build/demo-class.
set -eu
lab=02-vector-add
demo=build/demo-class
rm -rf "$demo"
mkdir -p "$demo/submissions"

# hand_in NAME FILE: a submission of that student.
hand_in() {
    mkdir "$demo/submissions/$1"
    cp "$2" "$demo/submissions/$1/vector_add.cu"
}
from=solutions/$lab
hand_in "Ada Lovelace" "$from/vector_add.cu"
hand_in "Grace Hopper" "$from/right/grid_stride.cu"
hand_in "Ken Iverson" "$from/right/streams.cu"
hand_in "김지우" "labs/$lab/vector_add.cu"
hand_in "O'Neil, Zoë" "$from/wrong/floor_division.cu"
hand_in "José Álvarez" "$from/wrong/no_guard.cu"
hand_in "Аня Иванова" "$from/wrong/trip_leaks.cu"
hand_in "=cmd|calc" "$from/wrong/one_thread_a_block.cu"
hand_in "Mona Iqbal" "$from/wrong/float4_tail_lost.cu"
hand_in "Bo Li" "$from/wrong/cpu_adds.cu"

status=0
build/bin/grade-class --lab "$lab" --gradebook "$demo/grades.db" \
    --target virtual -j "$(nproc)" "$demo/submissions" || status=$?
[ "$status" -le 1 ]
build/bin/grade-export --gradebook "$demo/grades.db" -o "$demo/grades.csv"
build/bin/grade-export --gradebook "$demo/grades.db" -f json \
    -o "$demo/grades.json"
echo
build/bin/grade-show --gradebook "$demo/grades.db"
echo
echo "The CSV is $demo/grades.csv; every test's verdict is in" \
    "$demo/grades.json."
exit $status
