using FastPort.Dispatch;
using FastPort.Hosting;
using FastPort.Transports;

namespace FastPort.TestHost;

/// <summary>
/// A server in a process that was given few descriptors. Prints its log, and its counts for every line on standard input: after "eat" has
/// taken every descriptor that was left, after "free" has given them back.
/// </summary>
internal static class ScarceMode
{
    public static async Task RunAsync(TransportKind transport, int loops)
    {
        StartAllThreads();
        var options = new FastPortServerOptions { Transport = transport, Loops = loops };
        options.Endpoints.Add("tcp://127.0.0.1:0");
        using var log = new ConsoleLog();
        await using var server = new FastPortServer(options, new MessageHandlers(), loggerFactory: log);
        int offLoop = 0;
        server.SessionOpened += session => offLoop += session.Connection.IsOnLoop ? 0 : 1;
        await server.StartAsync();
        List<FileStream> eaten = [];
        Console.WriteLine(Figures(server, offLoop));
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

            Console.WriteLine(Figures(server, offLoop));
        }
    }

    // Opens nothing to stay open.
    private static string Figures(FastPortServer server, int openedOffLoop) =>
        $"descriptors-free={FreeDescriptors()} port={server.Endpoints[0].Port} accept-errors={server.Counters.Snapshot().AcceptErrors} "
        + $"connections={server.ConnectionCount} opened-off-loop={openedOffLoop} "
        + $"cpu-ms={(long)Environment.CpuUsage.TotalTime.TotalMilliseconds}";

    // 0 also where none is left to look with.
    private static long FreeDescriptors()
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

    private static void Eat(List<FileStream> eaten)
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

    // A thread needs descriptors to start, and the runtime ends where the pool gets none: so it shall have all it will ever use.
    private static void StartAllThreads()
    {
        const int Threads = 8;
        ThreadPool.SetMinThreads(Threads, 1);
        ThreadPool.SetMaxThreads(Threads, 1);
        using var all = new Barrier(Threads);
        Task.WaitAll([.. Enumerable.Range(0, Threads).Select(_ => Task.Run(() => all.SignalAndWait()))]);
    }
}
