using System.CommandLine;
using ServicePeer.Calls;
using ServicePeer.Servers;

namespace ServicePeer;

/// <summary>The servers and the callers of the compared libraries.</summary>
internal static class PeerCommands
{
    private static readonly Argument<string> Library = new("library")
    {
        Description = "fastport, fastport-on-loop, fastport-by-number, grpc or json-rpc.",
    };

    private static readonly Option<string> Endpoint = new("--endpoint")
    {
        Description = "The server, as tcp://host:port.",
        Required = true,
    };

    private static readonly Option<CallMode> Mode = new("--mode")
    {
        Description = "Unary calls, streams whose messages come back (exchange), or streams of the server (watch).",
    };

    private static readonly Option<int> Connections = new("--connections") { Description = "Connections.", DefaultValueFactory = _ => 32 };

    private static readonly Option<int> Callers = new("--callers")
    {
        Description = "Callers on each connection; each awaits its reply before it calls again.",
        DefaultValueFactory = _ => 16,
    };

    private static readonly Option<int> Size = new("--size")
    {
        Description = "Bytes of a message's payload, 8 or more.",
        DefaultValueFactory = _ => 64,
    };

    private static readonly Option<double> Duration = new("--duration") { Description = "Measured seconds.", DefaultValueFactory = _ => 3 };

    private static readonly Option<double> WarmUp = new("--warmup") { Description = "Seconds before.", DefaultValueFactory = _ => 0.5 };

    private static readonly Option<int> Pairs = new("--pairs")
    {
        Description = "Pairs of turns, a quarter of a second each.",
        DefaultValueFactory = _ => 100,
    };

    private static readonly Option<int> ServerId = new("--server-pid") { Description = "The server's process id.", Required = true };

    public static RootCommand Create()
    {
        var serve = new Command("serve", "Serves until its standard input ends.") { Library };
        serve.SetAction((parsed, cancellation) => ServeAsync(parsed.GetRequiredValue(Library), cancellation));
        var load = new Command("load", "Calls a server, and prints what it has measured as one line of JSON.")
        {
            Library, Endpoint, Mode, Connections, Callers, Size, Duration, WarmUp, ServerId,
        };
        load.SetAction((parsed, _) => CallLoad.RunAsync(new CallLoadSettings
        {
            Create = Choose(parsed.GetRequiredValue(Library), parsed.GetRequiredValue(Endpoint)),
            Mode = parsed.GetValue(Mode),
            Connections = parsed.GetValue(Connections),
            Callers = parsed.GetValue(Callers),
            Size = parsed.GetValue(Size),
            Duration = TimeSpan.FromSeconds(parsed.GetValue(Duration)),
            WarmUp = TimeSpan.FromSeconds(parsed.GetValue(WarmUp)),
            ServerId = parsed.GetValue(ServerId),
        }));
        var alternate = new Command("alternate", "Compares the generated client with calls by number, in turn in this process.")
        {
            Endpoint, Pairs,
        };
        alternate.SetAction((parsed, _) => Alternation.RunAsync(parsed.GetRequiredValue(Endpoint), parsed.GetValue(Pairs)));
        return new RootCommand("Calls through FastPort, gRPC and JSON-RPC.") { serve, load, alternate };
    }

    private static Func<ICalls> Choose(string library, string endpoint) => library switch
    {
        "fastport" => () => new FastPortCalls(endpoint, continuesOnLoop: false),
        "fastport-on-loop" => () => new FastPortCalls(endpoint, continuesOnLoop: true),
        "fastport-by-number" => () => new NumberedCalls(endpoint),
        "grpc" => () => new GrpcCalls(endpoint),
        "json-rpc" => () => new JsonRpcCalls(endpoint),
        _ => throw new PeerException(
            $"'{library}' is none of the libraries fastport, fastport-on-loop, fastport-by-number, grpc and json-rpc."),
    };

    private static async Task ServeAsync(string library, CancellationToken cancellation)
    {
        using var ending = CancellationTokenSource.CreateLinkedTokenSource(cancellation);

        // The program that started this one holds the other end of its standard input. A thread of its own waits for it: the thread pool
        // has one thread per core, and the server needs them all.
        var watcher = new Thread(() =>
        {
            while (Console.In.Read() >= 0)
            {
                // What is written there does not matter.
            }

            ending.Cancel();
        })
        {
            IsBackground = true,
            Name = "standard input",
        };
        watcher.Start();
        try
        {
            await (library switch
            {
                "fastport" => FastPortServers.RunAsync(ending.Token),
                "grpc" => GrpcServer.RunAsync(ending.Token),
                "json-rpc" => JsonRpcServer.RunAsync(ending.Token),
                _ => throw new PeerException($"'{library}' is none of the servers fastport, grpc and json-rpc."),
            });
        }
        catch (OperationCanceledException) when (ending.IsCancellationRequested)
        {
            // The end.
        }
    }
}
