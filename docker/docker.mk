# The container image, built on a base of our own and tried.
.PHONY: test-docker
test-docker: ## build the container image with buildah, grade lab 02 in it
	@$(SETUP) image
	@autograder/tests/docker/build-and-grade.sh
