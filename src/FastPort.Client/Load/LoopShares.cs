using FastPort.Programs;

namespace FastPort.Client.Load;

/// <summary>
/// Divides the cores between the loops of a server inside this process and those of the load client. Two sets of loops, each as large as
/// the machine, would wait for one another's cores, and those waits would be the highest latencies.
/// </summary>
internal static class LoopShares
{
    /// <summary>
    /// The loops of both, at least one each. Values set by the command line or the configuration are kept. With loops bound to cores
    /// nothing is divided: both sets begin at the first core.
    /// </summary>
    /// <param name="choice">The transport options of the command line.</param>
    /// <param name="server">The options of the server; its loops are set where they are not.</param>
    /// <param name="cores">Cores of the machine.</param>
    /// <returns>The transport options of the load client.</returns>
    public static TransportChoice Divide(TransportChoice choice, FastPortServerOptions server, int cores)
    {
        if (choice.Loops is not null || server.PinLoops)
        {
            return choice;
        }

        if (server.Loops == 0)
        {
            server.Loops = Math.Max(1, cores / 2);
        }

        return choice with { Loops = Math.Max(1, cores - server.Loops) };
    }
}
