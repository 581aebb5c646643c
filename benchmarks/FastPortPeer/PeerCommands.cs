using System.CommandLine;
using FastPortPeer.Attacks;
using FastPortPeer.LockStep;
using FastPortPeer.Messaging;
using FastPortPeer.Nodes;
using FastPortPeer.Soak;

namespace FastPortPeer;

/// <summary>
/// The commands: the two sides of the messaging comparison, apart or in one process; a lock-step client; the two sides of the
/// soak; attacks.
/// </summary>
internal static class PeerCommands
{
    private const string InProcessEndpoint = "inproc://messaging";

    private static readonly Option<string> Endpoint = new("--endpoint")
    {
        Description = "Where to listen or to connect to, as a URI.",
        Required = true,
    };

    private static readonly Option<int> Size = new("--size") { Description = "Bytes of a message.", DefaultValueFactory = _ => 64 };

    private static readonly Option<int> Payload = new("--size")
    {
        Description = "Bytes of a message's payload, 4 or more.",
        DefaultValueFactory = _ => 64,
    };

    private static readonly Option<bool> LockStepMode = new("--lock-step") { Description = "Send each message back before the next." };

    private static readonly Option<int?> SpinMicroseconds = new("--spin-us")
    {
        Description = "How long a loop looks for work before it sleeps.",
    };

    private static readonly Option<int> InFlight = new("--in-flight")
    {
        Description = "Requests in flight, each in lock-step with its reply.",
        DefaultValueFactory = _ => 1,
    };

    private static readonly Option<double> Duration = new("--duration") { Description = "Measured seconds.", DefaultValueFactory = _ => 3 };

    private static readonly Option<double> WarmUp = new("--warmup")
    {
        Description = "Seconds before measuring.",
        DefaultValueFactory = _ => 0.5,
    };

    private static readonly Option<int> ServerId = new("--server-pid") { Description = "The server's process id.", Required = true };

    public static RootCommand Create()
    {
        Size.Validators.Add(option =>
        {
            if (option.GetValueOrDefault<int>() is not 64 and not (>= 128 and <= 1 << 20))
            {
                option.AddError("--size: must be 64, or 128 to 1048576.");
            }
        });
        var root = new RootCommand("FastPort's own side of the comparisons that need its engine on both ends.");
        root.Add(
            Create("server", "Messaging: sends to a routing id.", ServeAsync, Endpoint, Size, LockStepMode, SpinMicroseconds));
        root.Add(
            Create("client", "Messaging: receives, or sends back.", ReceiveAsync, Endpoint, Size, LockStepMode, SpinMicroseconds));
        root.Add(Create("both", "Messaging: server and client in this process.", ServeBothAsync, Size, LockStepMode, SpinMicroseconds));
        root.Add(
            Create("lock-step", "Echo, each request after the reply before.", LockStepAsync, Endpoint, Payload, InFlight, SpinMicroseconds,
                Duration, WarmUp, ServerId));
        SoakCommands.AddTo(root);
        AttackCommand.AddTo(root);
        NodeCommands.AddTo(root);
        return root;
    }

    private static Command Create(string name, string description, Func<ParseResult, Task> run, params Option[] options)
    {
        var command = new Command(name, description);
        foreach (Option option in options)
        {
            command.Add(option);
        }

        command.SetAction((parsed, _) => run(parsed));
        return command;
    }

    private static MessagingSettings Settings(ParseResult parsed) =>
        new(parsed.GetValue(LockStepMode), parsed.GetValue(Size), parsed.GetValue(SpinMicroseconds));

    private static async Task ServeAsync(ParseResult parsed)
    {
        await using var server = new MessagingServer(Settings(parsed), parsed.GetRequiredValue(Endpoint));
        await server.StartAsync();
        await server.ServeAsync();
    }

    private static async Task ReceiveAsync(ParseResult parsed)
    {
        await using var client = new MessagingClient(Settings(parsed), parsed.GetRequiredValue(Endpoint));
        await client.StartAsync();
        await await Task.WhenAny(client.Failed, InputLines.Start().Completion);
    }

    private static async Task ServeBothAsync(ParseResult parsed)
    {
        await using var server = new MessagingServer(Settings(parsed), InProcessEndpoint);
        await server.StartAsync();
        await using var client = new MessagingClient(Settings(parsed), InProcessEndpoint);
        await client.StartAsync();
        await await Task.WhenAny(client.Failed, server.ServeAsync());
    }

    private static Task LockStepAsync(ParseResult parsed) => LockStepClient.RunAsync(new LockStepSettings
    {
        Endpoint = parsed.GetRequiredValue(Endpoint),
        Size = parsed.GetValue(Payload),
        InFlight = parsed.GetValue(InFlight),
        Duration = TimeSpan.FromSeconds(parsed.GetValue(Duration)),
        WarmUp = TimeSpan.FromSeconds(parsed.GetValue(WarmUp)),
        SpinMicroseconds = parsed.GetValue(SpinMicroseconds),
        ServerId = parsed.GetValue(ServerId),
    });
}
