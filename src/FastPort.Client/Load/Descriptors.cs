using System.Globalization;
using System.Net.Sockets;
using FastPort.Hosting;
using FastPort.Programs;

namespace FastPort.Client.Load;

/// <summary>Compares the descriptors that a run's connections need with the limit of this process.</summary>
internal static class Descriptors
{
    // Libraries, pipes, event queues: about 150 in a run. The runtime aborts the process when no descriptor is left.
    private const int Others = 200;

    /// <summary>Throws if a run needs more descriptors than the process may open.</summary>
    /// <param name="settings">The run.</param>
    /// <param name="limit">The limit of the process; null if it is unknown or there is none.</param>
    /// <exception cref="LoadFailedException">The run needs more descriptors.</exception>
    public static void Require(LoadSettings settings, long? limit)
    {
        if (limit < Needed(settings))
        {
            throw TooFew(settings, limit, null);
        }
    }

    /// <summary>The error of the run if a connection failed because no descriptor was left; null if it failed for another reason.</summary>
    public static LoadFailedException? Explain(LoadSettings settings, Exception exception)
    {
        for (Exception? e = exception; e is not null; e = e.InnerException)
        {
            if (e is SocketException { SocketErrorCode: SocketError.TooManyOpenSockets })
            {
                return TooFew(settings, DescriptorLimit.Read(), exception);
            }
        }

        return null;
    }

    private static long Needed(LoadSettings settings) => ((settings.Server is null ? 2L : 1L) * settings.Connections) + Others;

    private static LoadFailedException TooFew(LoadSettings settings, long? limit, Exception? inner)
    {
        string ends = settings.Server is null ? ", both ends in this process" : string.Empty;
        string may = limit is null ? "than the system allows"
            : string.Create(CultureInfo.InvariantCulture, $"than the {limit} that this process may open");
        return new LoadFailedException(
            string.Create(
                CultureInfo.InvariantCulture,
                $"--connections is {settings.Connections}{ends}: this needs more descriptors {may}. Raise the limit (ulimit -n "
                + $"{Needed(settings)} and above) or ask for fewer connections."),
            ExitCode.Usage,
            inner);
    }
}
