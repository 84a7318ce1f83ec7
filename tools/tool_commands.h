/*
 * The subcommands. Each takes the arguments that begin with its own name and returns the exit code.
 */
#ifndef MAAR_TOOL_COMMANDS_H
#define MAAR_TOOL_COMMANDS_H

int tool_command_advise(int argc, char** argv);
int tool_command_capture(int argc, char** argv);
int tool_command_convert(int argc, char** argv);
int tool_command_export(int argc, char** argv);
int tool_command_info(int argc, char** argv);
int tool_command_report(int argc, char** argv);
int tool_command_replay(int argc, char** argv);
int tool_command_plan(int argc, char** argv);
int tool_command_fit(int argc, char** argv);
int tool_command_top(int argc, char** argv);

#endif
