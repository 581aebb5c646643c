using System.Globalization;
using System.Net.Sockets;

namespace FastPort.TestHost;

/// <summary>
/// Starts and stops a server with 0, 1, 2, ... descriptors left, and prints how often it listened, was refused with the sentence for the
/// user, and failed in another way; the failures are logged at the end. Last, with all descriptors given back, it has to listen.
/// </summary>
internal static class ScarceStartMode
{
    private const int Starts = 24;

    /// <param name="transport">The server's transport.</param>
    /// <param name="loops">Its event loops.</param>
    /// <param name="path">
    /// Where it listens: at each start there is the file of a Unix socket that no program listens at. None for a port.
    /// </param>
    public static async Task RunAsync(TransportKind transport, int loops, string? path)
    {
        ScarceMode.StartAllThreads();
        var options = new FastPortServerOptions
        {
            Transport = transport,
            Loops = loops,
            Endpoints = { path is null ? "tcp://127.0.0.1:0" : $"unix://{path}" },
        };
        List<FileStream> eaten = [];
        List<Exception?> outcomes = [];
        long before = 0;

        // What the runtime reads of its files for a start and for a refusal, it reads in the two rounds before.
        for (int free = -2; free <= Starts; free++)
        {
            if (path is not null)
            {
                LeaveStaleFile(path);
            }

            before = free == 0 ? ScarceMode.FreeDescriptors() : before;
            if (free >= -1)
            {
                ScarceMode.Eat(eaten);
                GiveBack(eaten, Math.Max(free, 0));
            }

            Exception? outcome = await StartAsync(options);
            GiveBack(eaten, eaten.Count);
            outcomes.Add(outcome);
        }

        int last = await StartAsync(options) is null ? 1 : 0;
        long leftOpen = before - ScarceMode.FreeDescriptors();
        foreach (Exception failure in outcomes.OfType<Exception>())
        {
            Console.WriteLine($"log 0 {Environment.TickCount64} {failure.GetType().Name}: {failure.Message}");
        }

        int refused = outcomes.Count(static o => o is EndpointException);
        int listening = outcomes.Count(static o => o is null);
        Console.WriteLine(string.Create(
            CultureInfo.InvariantCulture,
            $"listening={listening} refused={refused} other={outcomes.Count - refused - listening} last={last} left-open={leftOpen}"));
    }

    private static async Task<Exception?> StartAsync(FastPortServerOptions options)
    {
        await using var server = new FastPortServer(options, new MessageHandlers());
        try
        {
            await server.StartAsync();
            return null;
        }
        catch (Exception e)
        {
            // Not written yet: the console may need a descriptor.
            return e;
        }
    }

    // As the kernel leaves it when a server is killed. The runtime removes the file of a socket that it closes, where it was bound.
    private static void LeaveStaleFile(string path)
    {
        if (File.Exists(path))
        {
            return;
        }

        string elsewhere = path + ".elsewhere";
        using var socket = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        socket.Bind(new UnixDomainSocketEndPoint(elsewhere));
        File.Move(elsewhere, path);
    }

    private static void GiveBack(List<FileStream> eaten, int count)
    {
        for (int i = 0; i < count; i++)
        {
            eaten[^1].Dispose();
            eaten.RemoveAt(eaten.Count - 1);
        }
    }
}
