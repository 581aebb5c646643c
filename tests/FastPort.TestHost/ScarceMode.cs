using FastPort.Hosting;

namespace FastPort.TestHost;

/// <summary>
/// Servers in a process that was given few descriptors. Prints their log, and their counts for every line on standard input: after "eat"
/// has taken every descriptor that was left, after "free" has given them back.
/// </summary>
internal static class ScarceMode
{
    /// <param name="transport">The transport of all servers.</param>
    /// <param name="loops">Event loops of each server.</param>
    /// <param name="hasSecond">Whether there is a second server, which requires Hello.</param>
    public static async Task RunAsync(TransportKind transport, int loops, bool hasSecond)
    {
        StartAllThreads();
        var options = new FastPortServerOptions { Transport = transport, Loops = loops, Endpoints = { "tcp://127.0.0.1:0" } };
        using var log = new ConsoleLog();
        await using var server = new FastPortServer(options, new MessageHandlers(), loggerFactory: log);
        int offLoop = 0;
        server.SessionOpened += session => offLoop += session.Connection.IsOnLoop ? 0 : 1;
        await server.StartAsync();
        await using FastPortServer? second = hasSecond ? await StartSecondAsync(transport, log) : null;
        List<FileStream> eaten = [];
        Console.WriteLine(Figures(server, second, offLoop));
        while (Console.ReadLine() is { } line)
        {
            switch (line)
            {
                case "eat":
                    Eat(eaten);
                    break;
                case "free":
                    eaten.ForEach(static file => file.Dispose());
                    eaten.Clear();
                    break;
            }

            Console.WriteLine(Figures(server, second, offLoop));
        }
    }

    /// <summary>Takes every descriptor that is left.</summary>
    public static void Eat(List<FileStream> eaten)
    {
        try
        {
            while (true)
            {
                eaten.Add(new FileStream("/dev/null", FileMode.Open, FileAccess.Read, FileShare.ReadWrite, bufferSize: 0));
            }
        }
        catch (IOException)
        {
            // None is left.
        }
    }

    /// <summary>How many descriptors are left; 0 also where none is left to look with.</summary>
    public static long FreeDescriptors()
    {
        try
        {
            return DescriptorLimit.Read() is { } limit ? limit - Directory.EnumerateFileSystemEntries("/proc/self/fd").LongCount() : 0;
        }
        catch (IOException)
        {
            return 0;
        }
    }

    /// <summary>
    /// Starts the pool's threads. A thread needs descriptors to start, and the runtime ends where the pool gets none: so it shall have all
    /// it will ever use.
    /// </summary>
    public static void StartAllThreads()
    {
        const int Threads = 8;
        ThreadPool.SetMinThreads(Threads, 1);
        ThreadPool.SetMaxThreads(Threads, 1);
        using var all = new Barrier(Threads);
        Task.WaitAll([.. Enumerable.Range(0, Threads).Select(_ => Task.Run(() => all.SignalAndWait()))]);
    }

    private static async Task<FastPortServer> StartSecondAsync(TransportKind transport, ConsoleLog log)
    {
        var options = new FastPortServerOptions
        {
            Transport = transport,
            Loops = 1,
            Endpoints = { "tcp://127.0.0.1:0" },
            RequireRoutingId = true,
        };
        options.Session.HandshakeTimeout = TimeSpan.Zero;
        var server = new FastPortServer(options, new MessageHandlers(), loggerFactory: log);
        await server.StartAsync();
        return server;
    }

    // Opens nothing to stay open.
    private static string Figures(FastPortServer server, FastPortServer? second, int openedOffLoop) =>
        $"descriptors-free={FreeDescriptors()} port={server.Endpoints[0].Port} second-port={second?.Endpoints[0].Port ?? 0} "
        + $"accept-errors={server.Counters.Snapshot().AcceptErrors + (second?.Counters.Snapshot().AcceptErrors ?? 0)} "
        + $"connections={server.ConnectionCount + (second?.ConnectionCount ?? 0)} connections-max={ConnectionDescriptors.OfProcess.Max} "
        + $"opened-off-loop={openedOffLoop} "
        + $"cpu-ms={(long)Environment.CpuUsage.TotalTime.TotalMilliseconds}";
}
