using System.Globalization;
using System.Net.Sockets;
using FastPort.Dispatch;
using FastPort.Hosting;
using FastPort.Transports;

namespace FastPort.TestHost;

/// <summary>
/// Starts and stops a server with 0, 1, 2, ... descriptors left, and prints how often it listened, was refused with the sentence for the
/// user, and failed in another way; the refusals are logged. Last, with all descriptors given back, it has to listen.
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
        using var log = new ConsoleLog();
        var options = new FastPortServerOptions
        {
            Transport = transport,
            Loops = loops,
            Endpoints = { path is null ? "tcp://127.0.0.1:0" : $"unix://{path}" },
        };
        List<FileStream> eaten = [];
        int listening = 0;
        int refused = 0;
        int other = 0;
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

            Type? failure = await StartAsync(options);
            GiveBack(eaten, eaten.Count);
            listening += failure is null ? 1 : 0;
            refused += failure == typeof(EndpointException) ? 1 : 0;
            other += failure is null || failure == typeof(EndpointException) ? 0 : 1;
        }

        int last = await StartAsync(options) is null ? 1 : 0;
        Console.WriteLine(string.Create(
            CultureInfo.InvariantCulture,
            $"listening={listening} refused={refused} other={other} last={last} left-open={before - ScarceMode.FreeDescriptors()}"));
    }

    private static async Task<Type?> StartAsync(FastPortServerOptions options)
    {
        await using var server = new FastPortServer(options, new MessageHandlers());
        try
        {
            await server.StartAsync();
            return null;
        }
        catch (Exception e)
        {
            // Written without a descriptor.
            Console.WriteLine($"log 0 {Environment.TickCount64} {e.GetType().Name}: {e.Message}");
            return e.GetType();
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
