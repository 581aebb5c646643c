using System.Globalization;

namespace FastPort.TestHost.Impaired;

/// <summary>
/// Clients of <see cref="ImpairedServerMode"/>, in a network of their own. Lines on standard input: "connect"; "exchange N" sends N
/// messages per client and waits for the outcome of each; "begin" begins to send without an end and waits until replies come steadily,
/// "finish" ends it; "closed" waits until each client has lost its session, "back" until each has another; "heartbeats N" until each
/// session has received N more messages. Each is answered with figures.
/// </summary>
internal static class ImpairedClientMode
{
    // Replies to each client after which there are some on their way at any time.
    private const int SteadyLoad = 200;

    public static async Task RunAsync(TransportKind transport, int count, TimeSpan heartbeat)
    {
        NumberedClient[] clients = [.. Enumerable.Range(0, count).Select(i => new NumberedClient(i, Options(transport, heartbeat)))];
        Console.WriteLine("ready=1");
        while (Console.ReadLine() is { } line)
        {
            await PerformAsync(line.Split(' '), clients);
            Console.WriteLine(
                $"{NumberedAccount.Figures([.. clients.Select(static c => c.Account)])} "
                + $"closed={clients.Sum(static c => c.Ends.Count)} "
                + $"heartbeatTimeouts={clients.Sum(static c => c.Ends.ByHeartbeat)}");
        }

        await Task.WhenAll(clients.Select(static c => c.DisposeAsync().AsTask()));
    }

    private static async Task PerformAsync(string[] words, NumberedClient[] clients)
    {
        switch (words)
        {
            case ["connect"]:
                await AllAsync(static c => c.ConnectAsync());
                break;
            case ["exchange", var messages]:
                Begin(int.Parse(messages, CultureInfo.InvariantCulture));
                await FinishAsync(now: false);
                break;
            case ["begin"]:
                Begin(int.MaxValue);
                await AllAsync(static c => c.WhenAnsweredAsync(SteadyLoad));
                break;
            case ["finish"]:
                await FinishAsync(now: true);
                break;
            case ["closed"]:
                await AllAsync(static c => c.Ends.WhenAsync(1));
                break;
            case ["back"]:
                await AllAsync(static c => c.WhenConnectedAsync(2));
                break;
            case ["heartbeats", var messages]:
                await Heartbeats.WaitAsync(
                    clients.Select(static c => c.Session).OfType<Session>(), int.Parse(messages, CultureInfo.InvariantCulture));
                break;
        }

        void Begin(int messages)
        {
            foreach (NumberedClient client in clients)
            {
                client.Begin(messages);
            }
        }

        async Task FinishAsync(bool now)
        {
            await AllAsync(c => c.FinishAsync(now));
            await AllAsync(static c => c.CompareAsync());
        }

        Task AllAsync(Func<NumberedClient, Task> perform) => Task.WhenAll(clients.Select(perform));
    }

    private static FastPortClientOptions Options(TransportKind transport, TimeSpan heartbeat)
    {
        var options = new FastPortClientOptions
        {
            Endpoint = $"tcp://{ImpairedLinkMode.FirstAddress}:{ImpairedServerMode.Port}",
            Transport = transport,

            // A SYN or a Hello may be lost several times. An attempt that is given up would be a session that the server has closed.
            ConnectTimeout = TimeSpan.FromSeconds(20),

            // How long requests take is not the matter here, and the tests wait no longer than that.
            RequestTimeout = TimeSpan.Zero,
            CloseTimeout = TimeSpan.FromSeconds(1),
        };
        options.Session.HeartbeatInterval = heartbeat;
        return options;
    }
}
