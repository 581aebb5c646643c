using System.CommandLine;
using FastPort.Client.Commands;
using FastPort.Client.Load;
using FastPort.Client.Tags;
using FastPort.Client.Top;
using FastPort.Programs;
using Xunit;

namespace FastPort.Client.Tests.Commands;

public sealed class CommandLineTests
{
    private readonly Recorder _commands = new();
    private readonly StringWriter _error = new();

    [Fact]
    public async Task No_arguments_are_a_load_with_every_default()
    {
        Assert.Equal(7, await RunAsync());

        Assert.Equal(new LoadSettings(), _commands.Load);
        Assert.Equal(
            (32, 16, 64, TimeSpan.FromSeconds(10), TimeSpan.FromSeconds(2), LoadMode.Echo),
            (_commands.Load!.Connections, _commands.Load.InFlight, _commands.Load.Size, _commands.Load.Duration, _commands.Load.WarmUp,
                _commands.Load.Mode));
        Assert.Null(_commands.Load.Server);
        Assert.Null(_commands.Load.Rate);
    }

    [Fact]
    public void Every_command_has_an_example_that_is_right()
    {
        RootCommand root = CommandLine.Create(_commands);
        CompletionCommand.AddTo(root);

        ExampleCommand[] commands = [.. Leaves(root).Select(Assert.IsType<ExampleCommand>)];

        Assert.True(commands.Length > 10);
        Assert.All(commands, command =>
        {
            ParseResult parsed = root.Parse(command.Example);
            Assert.Empty(parsed.Errors);
            Assert.Same(command, parsed.CommandResult.Command);
        });

        static IEnumerable<Command> Leaves(Command command) =>
            command.Subcommands.Count == 0 ? [command] : command.Subcommands.SelectMany(Leaves);
    }

    [Fact]
    public async Task Load_without_options_is_the_same()
    {
        await RunAsync("load");

        Assert.Equal(new LoadSettings(), _commands.Load);
    }

    [Fact]
    public async Task Reads_every_option()
    {
        await RunAsync(
            "load", "--server", "tcp://[::1]:7000", "--connections", "100000", "--in-flight", "1", "--size", "0", "--duration", "500ms",
            "--warmup", "0s", "--token-file", "token",
            "--rate", "1000.5", "--mode", "echo", "--json", "out.json", "--html", "out.html",
            "--no-progress",
            "--transport", "sockets", "--loops", "256", "--spin-us", "0", "--pin-loops");

        Assert.Equal(
            new LoadSettings
            {
                Server = "tcp://[::1]:7000",
                TokenFile = "token",
                Connections = 100_000,
                InFlight = 1,
                Size = 0,
                Duration = TimeSpan.FromMilliseconds(500),
                WarmUp = TimeSpan.Zero,
                Rate = 1000.5,
                Mode = LoadMode.Echo,
                JsonPath = "out.json",
                HtmlPath = "out.html",
                Progress = false,
                Transport = new TransportChoice { Kind = TransportKind.Sockets, Loops = 256, SpinMicroseconds = 0, PinLoops = true },
            },
            _commands.Load);
    }

    [Theory]
    [InlineData("10s", 10_000)]
    [InlineData("500ms", 500)]
    [InlineData("2m", 120_000)]
    [InlineData("1.5s", 1500)]
    [InlineData("1h", 3_600_000)]
    public async Task Reads_durations_with_their_unit(string text, int milliseconds)
    {
        await RunAsync("load", "--duration", text);

        Assert.Equal(TimeSpan.FromMilliseconds(milliseconds), _commands.Load!.Duration);
    }

    [Theory]
    [InlineData("tcp://127.0.0.1:6628")]
    [InlineData("tls://example.org:6628")]
    [InlineData("unix:///run/fastport.sock")]
    [InlineData("unix://@fastport")]
    public async Task Reads_servers(string uri)
    {
        await RunAsync("load", "--server", uri);

        Assert.Equal(uri, _commands.Load!.Server);
    }

    [Theory]
    [InlineData("--connections is '0'; give a whole number from 1 to 100000.", "load", "--connections", "0")]
    [InlineData("--connections is '100001'; give a whole number from 1 to 100000.", "load", "--connections", "100001")]
    [InlineData("--connections is 'many'; give a whole number from 1 to 100000.", "load", "--connections", "many")]
    [InlineData("--in-flight is '0'; give a whole number from 1 to 65536.", "load", "--in-flight", "0")]
    [InlineData("--size is '-1'; give a whole number from 0 to 268435443.", "load", "--size", "-1")]
    [InlineData("--duration is '10'; give a number with a unit", "load", "--duration", "10")]
    [InlineData("--duration is '0s'; give a number with a unit", "load", "--duration", "0s")]
    [InlineData("--duration is '1.2.3s'; give a number with a unit", "load", "--duration", "1.2.3s")]
    [InlineData("--warmup is '-1s'; give a number with a unit", "load", "--warmup", "-1s")]
    [InlineData("--rate is '0'; give messages per second", "load", "--rate", "0")]
    [InlineData("--rate is 'fast'; give messages per second", "load", "--rate", "fast")]
    [InlineData("--rate works with --mode echo only", "load", "--rate", "5", "--mode", "sink")]
    [InlineData("--in-flight has no meaning for --mode sink", "load", "--in-flight", "16", "--mode", "sink")]
    [InlineData("--token-file has no meaning without --server", "load", "--token-file", "token")]
    [InlineData("--server is 'opc.tcp://127.0.0.1:4840'; write it as", "tags", "read", "x", "--server", "opc.tcp://127.0.0.1:4840")]
    [InlineData("--server: '127.0.0.1:6629' is not an endpoint", "tags", "browse", "--server", "127.0.0.1:6629")]
    [InlineData("--mode is 'ping'", "load", "--rate", "5", "--mode", "ping")]
    [InlineData("--mode is 'ping'; give echo, sink or source.", "load", "--mode", "ping")]
    [InlineData("--transport is 'tcp'; give auto", "load", "--transport", "tcp")]
    [InlineData("--loops is '-1'; give a whole number from 0 to 256.", "load", "--loops", "-1")]
    [InlineData("--loops is '257'; give a whole number from 0 to 256.", "load", "--loops", "257")]
    [InlineData("--spin-us is '1000001'; give a whole number from 0 to 1000000.", "load", "--spin-us", "1000001")]
    [InlineData("--spin-us is 'long'; give a whole number from 0 to 1000000.", "load", "--spin-us", "long")]
    [InlineData("--server: '127.0.0.1:6628' is not an endpoint", "load", "--server", "127.0.0.1:6628")]
    [InlineData("--server is 'udp://x'; write it as tcp://host:port", "load", "--server", "udp://x")]
    [InlineData("--server is 'tls://host:0'; write it as tcp://host:port, tls://host:port", "load", "--server", "tls://host:0")]
    [InlineData("--server is 'inproc://x'; write it as tcp://host:port", "load", "--server", "inproc://x")]
    [InlineData("--server: 'unix://x' is not an absolute path", "load", "--server", "unix://x")]
    [InlineData("--frob", "load", "--frob")]
    [InlineData("extra", "load", "extra")]
    [InlineData("frob", "frob")]
    [InlineData("'after'", "compare", "before.json")]
    public async Task Bad_arguments_are_exit_code_2_with_a_sentence(string sentence, params string[] args)
    {
        Assert.Equal(ExitCode.Usage, await RunAsync(args));

        Assert.Contains(sentence, _error.ToString(), StringComparison.OrdinalIgnoreCase);
        Assert.Null(_commands.Load);
        Assert.Null(_commands.Compare);
        Assert.Null(_commands.Tags);
    }

    [Fact]
    public async Task An_at_sign_names_no_file_with_more_arguments()
    {
        Assert.Equal(9, await RunAsync("tags", "write", "plant/operator", "@shift"));

        Assert.Equal(["plant/operator", "@shift"], _commands.Tags!.Value.Settings.Names);
    }

    [Fact]
    public async Task What_a_user_can_mend_is_a_sentence()
    {
        (Exception Failure, int Code)[] failures =
        [
            (new TimeoutException("No answer."), ExitCode.Failed),
            (new UnauthorizedAccessException("No answer."), ExitCode.Usage),
            (new DirectoryNotFoundException("No answer."), ExitCode.Usage),
            (new FileNotFoundException("No answer."), ExitCode.Usage),
        ];
        foreach ((Exception failure, int code) in failures)
        {
            var error = new StringWriter();
            Assert.Equal(code, await ProgramRun.ReportAsync(() => Task.FromException<int>(failure), error));
            Assert.Equal($"No answer.{Environment.NewLine}", error.ToString());
        }
    }

    [Fact]
    public async Task Reads_top()
    {
        Assert.Equal(10, await RunAsync("top"));
        Assert.Equal(new TopSettings(), _commands.Top);

        Assert.Equal(10, await RunAsync("top", "--server", "tcp://[::1]:7000", "--interval", "250", "--count", "3"));
        Assert.Equal(
            new TopSettings { Endpoint = "tcp://[::1]:7000", Interval = TimeSpan.FromMilliseconds(250), Count = 3 }, _commands.Top);
    }

    [Fact]
    public async Task Reads_compare()
    {
        Assert.Equal(8, await RunAsync("compare", "a.json", "b.json", "--markdown", "-", "--html", "diff.html"));

        Assert.Equal(new CompareSettings("a.json", "b.json", "-", "diff.html"), _commands.Compare);
    }

    private Task<int> RunAsync(params string[] args) => CommandLine.RunAsync(args, _commands, _error);

    [Fact]
    public async Task Tags_have_commands_with_their_options()
    {
        var recorder = new Recorder();

        Assert.Equal(9, await CommandLine.RunAsync(
            ["tags", "watch", "a", "b*", "--interval", "50", "--queue", "5", "--count", "3", "--json"], recorder, TextWriter.Null));

        (string command, TagSettings settings) = recorder.Tags!.Value;
        Assert.Equal(("watch", 5, 3, true), (command, settings.QueueSize, settings.Count, settings.Json));
        Assert.Equal(["a", "b*"], settings.Names);
        Assert.Equal(TimeSpan.FromMilliseconds(50), settings.Interval);
    }
}
