// The book: pages are what the Markdown says, and every link leads somewhere.
#include "../setup/shell.h"

// Renders Markdown as if it were chapters/01-one.md of a repository that has
// chapters/02-two.md and docs/student.md beside it.
static void render(const char *markdown, const char *mode)
{
    char command[2048];

    snprintf(command, sizeof command,
             "cat <<'END' | pandoc --from gfm --to html5 "
             "--lua-filter docs/site/page.lua -M source=chapters/01-one.md "
             "-M mode=%s -M 'pages=chapters/01-one.md chapters/02-two.md "
             "docs/student.md README.md'\n%s\nEND\n",
             mode, markdown);
    ck_assert_msg(shell(command) == 0, "%s", said);
}

START_TEST(test_links_between_pages_become_html)
{
    render("[a](02-two.md) [b](../docs/student.md#hints) [c](../README.md) "
           "[d](#here) [e](https://example.org/x.md)",
           "site");
    ck_assert_said("href=\"02-two.html\"");
    ck_assert_said("href=\"../docs/student.html#hints\"");
    ck_assert_said("href=\"../index.html\"");
    ck_assert_said("href=\"#here\"");
    ck_assert_said("href=\"https://example.org/x.md\"");
}
END_TEST

START_TEST(test_links_to_files_outside_the_book_become_text)
{
    render("the [kernel](../labs/02-two/two.cu) and [up](../../../etc/passwd)",
           "site");
    ck_assert_said("the kernel and up");
    ck_assert_not_said("href");
}
END_TEST

START_TEST(test_in_one_file_links_become_anchors)
{
    render("# One\n\n[a](02-two.md) [b](../docs/student.md#hints) [c](#one)",
           "book");
    ck_assert_said("href=\"#chapters-02-two--top\"");
    ck_assert_said("href=\"#docs-student--hints\"");
    ck_assert_said("href=\"#chapters-01-one--one\"");
    ck_assert_said("id=\"chapters-01-one--one\"");
    ck_assert_said("id=\"chapters-01-one--top\"");
}
END_TEST

START_TEST(test_marks_of_sync_are_dropped)
{
    render("<!-- code labs/a.cu f -->\n```cuda\nint f;\n```\n<!-- end -->\n\n"
           "text <!-- inline --> goes on",
           "site");
    ck_assert_not_said("<!--");
    ck_assert_said("sourceCode cpp");
    ck_assert_said("goes on");
}
END_TEST

START_TEST(test_wide_tables_scroll_by_keyboard)
{
    render("| a | b |\n|---|---|\n| 1 | 2 |", "site");
    ck_assert_said("class=\"wide\" tabindex=\"0\"");
}
END_TEST

START_TEST(test_every_link_of_the_book_resolves)
{
    ck_assert_msg(shell("MAKEFLAGS= make -s site") == 0, "%s", said);
    ck_assert_msg(shell("autograder/tests/docs/links.sh build/docs") == 0,
                  "links that lead nowhere:\n%s", said);
    ck_assert_int_eq(shell("test -s build/docs/book.pdf && "
                           "test -s build/docs/index.html"),
                     0);
}
END_TEST

START_TEST(test_pages_have_no_scripts_and_fetch_nothing)
{
    ck_assert_int_eq(shell("MAKEFLAGS= make -s site"), 0);
    ck_assert_int_ne(shell("grep -rlE '<script|src=\"https?:|@import|url\\(' "
                           "build/docs --include=*.html --include=*.css"),
                     0);
    ck_assert_str_eq(said, "");
}
END_TEST

START_TEST(test_a_link_that_leads_nowhere_is_found)
{
    int status = shell("T=$(mktemp -d); trap 'rm -rf $T' EXIT; cd $T;"
                       "echo '<a href=\"b.html#x\">' >a.html;"
                       "echo '<p id=\"y\"><a href=\"gone.html\">' >b.html;"
                       "\"$OLDPWD\"/autograder/tests/docs/links.sh $T");
    ck_assert_int_eq(status, 1);
    ck_assert_str_eq(said, "./a.html: b.html#x\n./b.html: gone.html\n");
}
END_TEST

// Every file that the README and the docs name by a link is there.
START_TEST(test_links_in_markdown_name_files_that_are_there)
{
    shell("for page in README.md docs/*.md chapters/*.md labs/*/README.md "
          "autograder/README.md; do [ -f $page ] || continue; "
          "grep -oE '\\]\\([^) ]+' $page | sed 's/^](//; s/#.*//' | "
          "grep -vE '^$|^[a-z]+:' | "
          "while read -r target; do [ -e $(dirname $page)/$target ] || "
          "echo $page: $target; done; done");
    ck_assert_str_eq(said, "");
}
END_TEST

#define PAGES                                                                  \
    "README.md autograder/README.md $(ls docs/*.md chapters/*.md "             \
    "labs/*/README.md 2>/dev/null)"

START_TEST(test_every_verb_that_pages_name_is_there)
{
    shell("cat Makefile */*.mk autograder/*/build.mk autograder/*/*/build.mk "
          "autograder/tests/tests.mk 2>/dev/null | grep -oE '^[a-z][a-z-]*:' | "
          "tr -d : >build/verbs; grep -ohE '(^|`)make [a-z][a-z-]+' " PAGES
          " | sed 's/.*make //' | sort -u | grep -vxFf build/verbs");
    ck_assert_str_eq(said, "");
}
END_TEST

START_TEST(test_every_program_that_pages_name_is_built)
{
    shell("grep -ohE 'build/(bin|lib)/[A-Za-z_.-]+[a-z]' " PAGES
          " | sort -u | while read -r program; do "
          "MAKEFLAGS= make -q $program; "
          "[ $? -lt 2 ] || echo not made: $program; done");
    ck_assert_str_eq(said, "");
}
END_TEST

static Suite *docs_suite(void)
{
    Suite *suite = suite_create("docs");
    TCase *tcase = tcase_create("docs");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, test_links_between_pages_become_html);
    tcase_add_test(tcase, test_links_to_files_outside_the_book_become_text);
    tcase_add_test(tcase, test_in_one_file_links_become_anchors);
    tcase_add_test(tcase, test_marks_of_sync_are_dropped);
    tcase_add_test(tcase, test_wide_tables_scroll_by_keyboard);
    tcase_add_test(tcase, test_every_link_of_the_book_resolves);
    tcase_add_test(tcase, test_pages_have_no_scripts_and_fetch_nothing);
    tcase_add_test(tcase, test_a_link_that_leads_nowhere_is_found);
    tcase_add_test(tcase, test_links_in_markdown_name_files_that_are_there);
    tcase_add_test(tcase, test_every_verb_that_pages_name_is_there);
    tcase_add_test(tcase, test_every_program_that_pages_name_is_built);
    suite_add_tcase(suite, tcase);
    return suite;
}

TEST_MAIN(docs_suite)
