using System.Collections.Concurrent;
using FastPort.Protocol;
using Microsoft.Extensions.DependencyInjection;
using Xunit;

namespace FastPort.Testing.Tests;

/// <summary>What goes wrong in the server is visible in the test.</summary>
public sealed class TestLogTests
{
    private const ushort Throws = 0x1100;

    [Fact]
    public async Task The_exception_of_a_handler_is_in_the_log()
    {
        var lines = new ConcurrentQueue<string>();
        await using TestServer test = await TestServer.StartAsync(
            static builder => builder.Map(static handlers => handlers.MapQueued(
                Throws, static _ => throw new InvalidOperationException("the cause"), "Throws")),
            lines.Enqueue);

        RequestFailedException failure = await Assert.ThrowsAsync<RequestFailedException>(
            () => test.Client.RequestAsync(Throws, ReadOnlyMemory<byte>.Empty));

        Assert.Equal(ErrorCode.Internal, failure.Code);
        string line = Assert.Single(lines);
        Assert.Contains("Throws", line, StringComparison.Ordinal);
        Assert.Contains("the cause", line, StringComparison.Ordinal);
    }

    [Fact]
    public async Task The_exception_of_a_clients_handler_is_in_the_log_too()
    {
        var lines = new ConcurrentQueue<string>();
        await using TestServer test = await TestServer.StartAsync(static _ => { }, lines.Enqueue);
        await using FastPortClient client = await test.ConnectAsync(
            static options => options.RoutingId = "ann",
            new MessageHandlers().MapQueued(Throws, static _ => throw new InvalidOperationException("the cause"), "Throws"));

        RequestFailedException failure = await Assert.ThrowsAsync<RequestFailedException>(
            () => test.Server.Routing.Find("ann")!.RequestAsync(Throws, ReadOnlyMemory<byte>.Empty));

        Assert.Equal("Internal: The handler failed; the log of the program that has it says why.", failure.Message);
        Assert.Contains("the cause", Assert.Single(lines), StringComparison.Ordinal);
    }

    [Fact]
    public async Task An_output_that_takes_no_line_disturbs_nothing()
    {
        await using TestServer test = await TestServer.StartAsync(
            static builder => builder.Map(static handlers => handlers.MapQueued(
                Throws, static _ => throw new InvalidOperationException("the cause"), "Throws")),
            static _ => throw new InvalidOperationException("There is no currently active test."));

        await Assert.ThrowsAsync<RequestFailedException>(() => test.Client.RequestAsync(Throws, ReadOnlyMemory<byte>.Empty));
    }

    [Fact]
    public async Task A_class_that_cannot_be_created_fails_the_start()
    {
        AggregateException failure = await Assert.ThrowsAsync<AggregateException>(
            () => TestServer.StartAsync(static builder => builder.MapService<TellerService>(ServiceLifetime.Singleton)));

        Assert.Contains(nameof(IBank), failure.Message, StringComparison.Ordinal);
    }
}
