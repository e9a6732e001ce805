# `make` alone: the verbs of all makefiles, in groups, from their `## help`.
# A verb that no group names lands under "more".
BEGIN {
    ngroups = split("Learn|Teach|Look|Write|Repository|More", titles, "|")
    place("Learn", "grade check counters explain hint reset watch handin")
    place("Teach", "demo-class")
    place("Look", "gpus doctor docs")
    place("Write", "new-lab sync check-course")
    place("Repository", "setup test test-docker gpu-check clean")
}

function place(title, verbs,    list, n, i) {
    n = split(verbs, list, " ")
    for (i = 1; i <= n; i++) {
        group[list[i]] = title
        order[title, i] = list[i]
    }
    count[title] = n
}

/^[a-z][a-z-]*:.*## / {
    verb = substr($0, 1, index($0, ":") - 1)
    text = substr($0, index($0, "## ") + 3)
    if (verb == "help")
        next
    help[verb] = text
    if (!(verb in group)) {
        group[verb] = "More"
        order["More", ++count["More"]] = verb
    }
}

END {
    print "CUDA from the Warp Up. Start with:  make grade LAB=01"
    for (g = 1; g <= ngroups; g++) {
        title = titles[g]
        printed = 0
        for (i = 1; i <= count[title]; i++) {
            verb = order[title, i]
            if (!(verb in help))
                continue
            if (!printed++)
                printf "\n%s\n", title
            printf "  make %-13s %s\n", verb, help[verb]
        }
    }
}
