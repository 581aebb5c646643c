using System.CommandLine;
using FastPort.Comparisons;

ParseResult parsed = ComparisonCommand.Create().Parse(args);
int result = await parsed.InvokeAsync();
return parsed.Errors.Count > 0 ? ExitCode.Usage : result;
