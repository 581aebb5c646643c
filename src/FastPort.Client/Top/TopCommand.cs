using System.CommandLine;
using FastPort.Client.Commands;
using FastPort.Programs;

namespace FastPort.Client.Top;

/// <summary>The command <c>top</c>.</summary>
internal static class TopCommand
{
    private const int MaxIntervalMilliseconds = 3_600_000;

    /// <summary>Creates the command.</summary>
    /// <param name="run">Shows the figures and returns the exit code.</param>
    public static Command Create(Func<TopSettings, Task<int>> run)
    {
        var defaults = new TopSettings();
        var server = new Option<string?>("--server")
        {
            Description =
                $"The server. It answers clients on its machine, and others only if it allows them. [default: {defaults.Endpoint}]",
            HelpName = "URI",
            CustomParser = OptionParsers.Endpoint("--server"),
        };
        Option<string> tokenFile = TokenFileOption.Create();
        Option<int?> interval = WholeNumberOption.Create(
            "--interval", "Time between two readings, in milliseconds. [default: 1000]", "MS", 100, MaxIntervalMilliseconds);
        Option<int?> count = WholeNumberOption.Create("--count", "Ends after this number of readings.", "N", 1, int.MaxValue);
        var sort = new Option<string>("--sort")
        {
            Description =
                $"Figure by which message types are sorted, largest first: {string.Join(", ", TopSort.Names)}. [default: {defaults.Sort}]",
            HelpName = "FIGURE",
            CustomParser = static result =>
            {
                string text = result.Tokens[0].Value;
                if (!TopSort.Names.Contains(text))
                {
                    result.AddError($"--sort is '{text}'; give one of {string.Join(", ", TopSort.Names)}.");
                }

                return text;
            },
        };
        var command = new ExampleCommand(
            "top",
            "Shows the live figures of a server: messages, event loops, latencies by type, errors.",
            "top --server tcp://127.0.0.1:6628 --sort p99")
        {
            server, tokenFile, interval, count, sort,
        };
        var access = new ServerAccessOptions();
        access.AddTo(command, server, defaults.Endpoint);
        command.SetAction((result, _) => run(new TopSettings
        {
            Endpoint = result.GetValue(server) ?? defaults.Endpoint,
            TokenFile = result.GetValue(tokenFile) ?? string.Empty,
            Access = access.Read(result),
            Interval = result.GetValue(interval) is { } milliseconds ? TimeSpan.FromMilliseconds(milliseconds) : defaults.Interval,
            Count = result.GetValue(count),
            Sort = result.GetValue(sort) ?? defaults.Sort,
        }));
        return command;
    }
}
