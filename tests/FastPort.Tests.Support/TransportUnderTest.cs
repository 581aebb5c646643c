using System.Reflection;
using System.Runtime.CompilerServices;
using FastPort.Transports;

namespace FastPort.Tests.Support;

/// <summary>
/// The transport that every test of this project uses unless it names one: the system's best, or the one in the environment variable
/// <c>FASTPORT_TEST_TRANSPORT</c> (Epoll, Sockets). So whatever does not name its transports runs over each of them, the test host's
/// processes too.
/// </summary>
internal static class TransportUnderTest
{
    [ModuleInitializer]
    internal static void Choose()
    {
        if (Environment.GetEnvironmentVariable("FASTPORT_TEST_TRANSPORT") is { Length: > 0 } name)
        {
            // By reflection: projects that share this file see no more of FastPort.Core than a user does.
            typeof(TransportKind).Assembly
                .GetType("FastPort.Transports.TransportSelection", throwOnError: true)!
                .GetProperty("Auto", BindingFlags.Static | BindingFlags.NonPublic)!
                .SetValue(null, Enum.Parse<TransportKind>(name, ignoreCase: true));
        }
    }
}
