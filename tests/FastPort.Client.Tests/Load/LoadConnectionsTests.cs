using FastPort.Client.Load;
using Xunit;

namespace FastPort.Client.Tests.Load;

public sealed class LoadConnectionsTests
{
    [Theory]
    [InlineData("echo")]
    [InlineData("sink")]
    [InlineData("source")]
    public void Whatever_may_be_asked_for_makes_options_that_a_client_takes(string mode)
    {
        foreach (int connections in (int[])[1, LoadSettings.MaxConnections])
        {
            foreach (int inFlight in (int[])[1, LoadSettings.MaxInFlight])
            {
                foreach (int size in (int[])[0, 100_000, 250_000_000])
                {
                    LoadSettings settings = new()
                    {
                        Mode = Enum.Parse<LoadMode>(mode, ignoreCase: true),
                        Connections = connections,
                        InFlight = inFlight,
                        Size = size,
                    };

                    Assert.Empty(LoadConnections.Options(settings, "tcp://127.0.0.1:6628", size).Validate());
                }
            }
        }
    }
}
