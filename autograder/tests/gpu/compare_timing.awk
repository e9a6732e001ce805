# Sets modelled times beside measured ones, by kernel and shape.
# Usage: awk -f compare_timing.awk MEASURED.csv MODELLED.csv
# Both are what timing_micro prints. Ends with the error by kernel: the median
# and the largest of |modelled / measured - 1|.
BEGIN { FS = "," }
FNR == 1 { file++; next }
{ key = $1 "," $2 "," $3 "," $4 "," $5 "," $6 }
file == 1 { measured[key] = $8; next }
key in measured {
    ratio = $8 / measured[key]
    error = ratio > 1 ? ratio - 1 : 1 / ratio - 1
    errors[$1, ++count[$1]] = error
    if (count[$1] == 1) names[++nnames] = $1
    rows[++nrows] = sprintf("| %s | %s | %s | %s | %s | %s | %.1f | %.1f | %.2f |",
        $1, $2, $3, $4, $5, $6, measured[key] / 1e3, $8 / 1e3, ratio)
}
END {
    if (!nrows) { print "no case in common" > "/dev/stderr"; exit 1 }
    print "| kernel | cases | median error | largest error |"
    print "|---|---|---|---|"
    for (i = 1; i <= nnames; i++) {
        n = count[names[i]]
        for (j = 1; j <= n; j++) {
            e = errors[names[i], j]
            for (k = j - 1; k > 0 && sorted[k] > e; k--) sorted[k + 1] = sorted[k]
            sorted[k + 1] = e
        }
        printf "| %s | %d | %.0f %% | %.0f %% |\n", names[i], n,
            100 * sorted[int((n + 1) / 2)], 100 * sorted[n]
    }
    print "\n| kernel | grid | block | shared bytes | variant | elements | measured us | modelled us | modelled / measured |"
    print "|---|---|---|---|---|---|---|---|---|"
    for (i = 1; i <= nrows; i++) print rows[i]
}
