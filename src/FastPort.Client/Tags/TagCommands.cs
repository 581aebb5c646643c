using System.CommandLine;
using FastPort.Client.Commands;
using FastPort.Programs;

namespace FastPort.Client.Tags;

/// <summary>The commands <c>tags browse</c>, <c>read</c>, <c>write</c> and <c>watch</c>.</summary>
internal sealed class TagCommands
{
    private readonly Option<string?> _server = new("--server")
    {
        Description = "The bridge, or another tag server. [default: tcp://127.0.0.1:6629]",
        HelpName = "URI",
        CustomParser = OptionParsers.Endpoint("--server"),
    };

    private readonly Option<string> _tokenFile = TokenFileOption.Create();

    private readonly ServerAccessOptions _access = new();

    private readonly Option<bool> _json = new("--json") { Description = "Prints JSON: one document, or one line for each change." };

    private readonly Option<int?> _timeout = WholeNumberOption.Create(
        "--timeout", "Time to wait for the answer, in milliseconds. [default: the server's, 5000]", "MS", 1, 3_600_000);

    private readonly Option<int?> _maxAge = WholeNumberOption.Create(
        "--max-age", "Accepts a value confirmed within this many milliseconds; 0 asks the device. [default: 0]", "MS", 0, int.MaxValue);

    private readonly Option<bool> _recursive = new("--recursive", "-r") { Description = "Lists everything below the path." };

    private readonly Option<int?> _interval = WholeNumberOption.Create(
        "--interval", "Time between updates, in milliseconds. [default: the server's, 1000]", "MS", 1, 86_400_000);

    private readonly Option<int?> _queue = WholeNumberOption.Create(
        "--queue", "Samples of a tag kept for the next update; 1 keeps only the latest. [default: 1]", "N", 1, 100);

    private readonly Option<int?> _count = WholeNumberOption.Create("--count", "Ends after this number of changes.", "N", 1, int.MaxValue);

    private readonly Option<int?> _seconds = WholeNumberOption.Create("--seconds", "Ends after this number of seconds.", "N", 1, 86_400);

    private readonly Argument<string?> _path = new("path")
    {
        Description = "Path to list. [default: everything at the root]",
        Arity = ArgumentArity.ZeroOrOne,
    };

    private readonly Argument<string[]> _names = new("name")
    {
        Description = "Names of tags. A * at the end stands for all tags whose names begin with the text before it.",
        Arity = ArgumentArity.OneOrMore,
    };

    private readonly Argument<string[]> _pairs = new("name value")
    {
        Description = "A name and its value, or several such pairs. Arrays are written [1, 2, 3].",
        Arity = ArgumentArity.OneOrMore,
    };

    private TagCommands(Func<string, TagSettings, Task<int>> run)
    {
        Command = new Command("tags", "Browses, reads, writes and watches the tags of an OPC UA bridge.")
        {
            Add("browse", "Lists tags, folders and methods.", "simulation --recursive", _path, _recursive),
            Add("read", "Reads tags.", "simulation/Int32.0 simulation/Double.0", _names, _maxAge, _timeout),
            Add("write", "Writes tags. Each value is parsed as the type of its tag.", "simulation/Int32.0 7", _pairs, _timeout),
            Add(
                "watch", "Prints changes of tags until Ctrl+C.", "simulation/Int32.* --interval 500", _names, _interval, _queue, _count,
                _seconds),
        };

        Command Add(string name, string description, string example, Argument argument, params Option[] options)
        {
            var command = new ExampleCommand(name, description, $"tags {name} {example}") { argument, _server, _tokenFile, _json };
            _access.AddTo(command, _server, new TagSettings().Endpoint);
            Array.ForEach(options, command.Add);
            command.SetAction((result, _) => run(name, Settings(name, result)));
            return command;
        }
    }

    private Command Command { get; }

    /// <summary>Creates the commands.</summary>
    /// <param name="run">Runs the command of a name and returns the exit code.</param>
    public static Command Create(Func<string, TagSettings, Task<int>> run) => new TagCommands(run).Command;

    private static TimeSpan Milliseconds(int? given) => TimeSpan.FromMilliseconds(given ?? 0);

    private TagSettings Settings(string name, ParseResult result) => new()
    {
        Endpoint = result.GetValue(_server) ?? new TagSettings().Endpoint,
        TokenFile = result.GetValue(_tokenFile) ?? string.Empty,
        Access = _access.Read(result),
        Json = result.GetValue(_json),
        Names = name switch
        {
            "browse" => [result.GetValue(_path) ?? string.Empty],
            "write" => result.GetValue(_pairs) ?? [],
            _ => result.GetValue(_names) ?? [],
        },
        Recursive = name == "browse" && result.GetValue(_recursive),
        MaxAge = name == "read" ? Milliseconds(result.GetValue(_maxAge)) : default,
        Timeout = name is "read" or "write" ? Milliseconds(result.GetValue(_timeout)) : default,
        Interval = name == "watch" ? Milliseconds(result.GetValue(_interval)) : default,
        QueueSize = name == "watch" ? result.GetValue(_queue) ?? 1 : 1,
        Count = name == "watch" ? result.GetValue(_count) : null,
        Duration = name == "watch" && result.GetValue(_seconds) is { } seconds ? TimeSpan.FromSeconds(seconds) : null,
    };
}
