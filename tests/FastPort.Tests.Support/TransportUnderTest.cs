using FastPort.Transports;

namespace FastPort.Tests.Support;

/// <summary>
/// The transport that every test of this project uses unless it names one: the system's best, or the one in the environment variable
/// <c>FASTPORT_TEST_TRANSPORT</c> (Epoll, Sockets). So whatever does not name its transports runs over each of them, the test host's
/// processes too.
/// </summary>
internal static class TransportUnderTest
{
    internal static void Choose()
    {
        if (Environment.GetEnvironmentVariable("FASTPORT_TEST_TRANSPORT") is { Length: > 0 } name)
        {
            TransportSelection.Auto = Enum.Parse<TransportKind>(name, ignoreCase: true);
        }
    }
}
