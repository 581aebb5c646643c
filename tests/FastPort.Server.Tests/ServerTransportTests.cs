using FastPort.Protocol;
using FastPort.Transports.Epoll;
using Xunit;

namespace FastPort.Server.Tests;

/// <summary>The options about the transport, against what the configuration says.</summary>
public sealed class ServerTransportTests
{
    [Theory]
    [InlineData(3, "FastPort__Transport=Sockets", "--transport", "epoll", "--loops", "3", "--spin-us", "0")]
    [InlineData(0, "FastPort__Transport=Epoll", "--transport", "sockets")]
    [InlineData(0, "FastPort__Transport=Sockets")]
    [InlineData(1, "FastPort__Loops=2", "--loops", "1")]
    [InlineData(1, "FastPort__Loops=-1", "--loops", "1", "--transport", "Auto")]
    public async Task The_command_line_wins_over_the_configuration(int loops, string variable, params string[] options)
    {
        if (!OperatingSystem.IsLinux())
        {
            return;
        }

        string[] setting = variable.Split('=');
        await using ServerProcess server = ServerProcess.Start(["--listen", "tcp://127.0.0.1:0", .. options], (setting[0], setting[1]));
        await ExpectLoopsAsync(server, loops);

        server.Signal(ServerProcess.SigTerm);
        Assert.Equal(0, await server.ExitAsync());
    }

    [Theory]
    [InlineData(null)]
    [InlineData(1)]
    [InlineData(3)]
    public async Task Without_any_option_there_is_one_loop_for_each_core_that_the_process_may_use(int? cores)
    {
        if (!OperatingSystem.IsLinux())
        {
            return;
        }

        string[] listen = ["--listen", "tcp://127.0.0.1:0"];
        await using ServerProcess server = cores is null
            ? ServerProcess.Start(listen)
            : ServerProcess.Start(listen, ("DOTNET_PROCESSOR_COUNT", $"{cores}"));

        await ExpectLoopsAsync(server, cores ?? Math.Min(Environment.ProcessorCount, EpollOptions.MaxLoops));
    }

    [Theory]
    [InlineData("--transport", "tcp", "--transport is 'tcp'; give auto, epoll or sockets.")]
    [InlineData("--loops", "257", "--loops is '257'; give a whole number from 0 to 256.")]
    [InlineData("--spin-us", "1000001", "--spin-us is '1000001'; give a whole number from 0 to 1000000.")]
    public async Task A_wrong_value_is_exit_code_2_with_a_sentence(string option, string value, string sentence)
    {
        if (!OperatingSystem.IsLinux())
        {
            return;
        }

        await using ServerProcess server = ServerProcess.Start(["--listen", "tcp://127.0.0.1:0", option, value]);

        Assert.Equal(2, await server.ExitAsync());
        Assert.Contains(sentence, server.Errors, StringComparison.Ordinal);
        Assert.Empty(server.Output);
    }

    private static async Task ExpectLoopsAsync(ServerProcess server, int loops)
    {
        string endpoint = await server.ListeningAsync();
        var clients = new List<FastPortClient>();
        for (int i = 0; i < 2 * Math.Max(loops, 3); i++)
        {
            // So many that every loop has one.
            var client = new FastPortClient(new FastPortClientOptions { Endpoint = endpoint });
            clients.Add(client);
            await client.ConnectAsync();
            await client.RequestAsync(DiagnosticType.Echo, new Echo(), Echo.Parser);
        }

        Assert.Equal(loops, server.CountLoops());
        await Task.WhenAll(clients.Select(static client => client.CloseAsync()));
    }
}
