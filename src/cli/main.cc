#include "cli/app.h"

int main(int argc, char** argv) { return candor::cli::Main(argc, argv); }
