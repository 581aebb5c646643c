using System.Runtime.InteropServices;
using FastPort.Client.Reports;
using Xunit;

namespace FastPort.Client.Tests.Processes;

/// <summary>The options about the transport, for the client's connections and for the server inside its process.</summary>
public sealed class ClientTransportTests : IDisposable
{
    private static readonly string[] Load = ["load", "--connections", "8", "--warmup", "0s", "--json", "out.json"];

    private readonly string _directory = Directory.CreateTempSubdirectory("fastport-client-").FullName;

    public void Dispose() => Directory.Delete(_directory, recursive: true);

    [Theory]
    [InlineData("sockets", "--transport", "sockets")]
    [InlineData("sockets", "--transport", "sockets", "--mode", "sink")]
    [InlineData("sockets", "--transport", "sockets", "--mode", "source")]
    [InlineData("epoll", "--transport", "epoll", "--loops", "1", "--spin-us", "0")]
    [InlineData("epoll", "--transport", "auto", "--loops", "2", "--spin-us", "100", "--mode", "sink")]
    public async Task A_run_goes_over_the_transport_that_was_asked_for_and_says_so(string transport, params string[] options)
    {
        if (!OperatingSystem.IsLinux())
        {
            return;
        }

        using var client = new ClientProcess(_directory, [.. Load, "--duration", "200ms", .. options]);

        Assert.Equal(0, await client.EndAsync());
        Assert.Contains($" over {transport}\n", client.Output, StringComparison.Ordinal);
        Assert.Equal(transport, LoadResultReader.Parse(File.ReadAllBytes(Path.Combine(_directory, "out.json"))).Transport);
    }

    // Those of the client, which all its connections share, and as many of the server.
    [Theory]
    [InlineData(6, "--loops", "3")]
    [InlineData(0, "--transport", "sockets")]
    public async Task Both_sides_run_on_the_loops_that_were_asked_for_whatever_the_configuration_says(int loops, params string[] options)
    {
        if (!OperatingSystem.IsLinux())
        {
            return;
        }

        using var client = new ClientProcess(
            _directory, [.. Load, "--duration", "10m", .. options], ("FastPort__Transport", "Epoll"), ("FastPort__Loops", "5"));
        await client.ReadToAsync("echo to ");

        Assert.Equal(loops, client.CountLoops());

        client.Signal(PosixSignal.SIGINT);
        Assert.Equal(0, await client.EndAsync());
    }

    [Fact]
    public async Task A_wrong_value_is_exit_code_2()
    {
        using var client = new ClientProcess(_directory, [.. Load, "--spin-us", "-1"]);

        Assert.Equal(2, await client.EndAsync());
        Assert.Contains("--spin-us is '-1'; give a whole number from 0 to 1000000.", await client.Error, StringComparison.Ordinal);
        Assert.Empty(client.Output);
    }
}
