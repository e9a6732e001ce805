# Sourced by the scripts of this folder: lab_name LAB sets `slug` to NN-name
# and `files` to what lab.yaml takes from a submission, or ends the script.
lab_name() {
    sh autograder/setup/lab.sh "$verb" "$1" || exit 2
    slug=
    for folder in labs/"$1"/ labs/"$1"-*/; do
        [ -d "$folder" ] && slug=${folder#labs/} && slug=${slug%/}
    done
    files=$(sed -n 's/^submit: *\[\(.*\)\].*/\1/p' "labs/$slug/lab.yaml" |
        tr ',' ' ')
    [ -n "$files" ] || {
        echo "make $verb: labs/$slug/lab.yaml has no line submit: [FILE]" >&2
        exit 2
    }
}
