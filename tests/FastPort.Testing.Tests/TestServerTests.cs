using FastPort.Framing;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Xunit;

namespace FastPort.Testing.Tests;

/// <summary>Servers within a test.</summary>
public sealed class TestServerTests
{
    private const ushort Greet = 0x1001;
    private const ushort Greeting = 0x1002;

    [Fact]
    public async Task Servers_do_not_see_one_another()
    {
        await using TestServer first = await TestServer.StartAsync(
            static builder => builder.Map(Answer(1)), cancellationToken: Patience.Token);
        await using TestServer second = await TestServer.StartAsync(
            static builder => builder.Map(Answer(2)), cancellationToken: Patience.Token);

        Assert.Equal([1], await first.Client.RequestAsync(Greet, default));
        Assert.Equal([2], await second.Client.RequestAsync(Greet, default));
    }

    [Fact]
    public async Task Another_client_has_options_and_handlers_of_its_own()
    {
        await using TestServer test = await TestServer.StartAsync(
            static builder => builder.Map(Answer(1)), cancellationToken: Patience.Token);
        var greeted = new TaskCompletionSource<byte[]>(TaskCreationOptions.RunContinuationsAsynchronously);
        var pushes = new MessageHandlers();
        pushes.MapInline(Greeting, (ref InlineRequest request) => greeted.TrySetResult([.. request.Body.FirstSpan]));
        await using FastPortClient ann = await test.ConnectAsync(static options => options.RoutingId = "ann", pushes, Patience.Token);

        test.Server.Routing.Find("ann")!.TrySend(Greeting, new RawBody([5]));

        Assert.Equal([5], await greeted.Task.WaitAsync(Patience.Limit));
    }

    [Fact]
    public async Task Wrong_options_are_named_and_nothing_is_left_running()
    {
        OptionsValidationException wrong = await Assert.ThrowsAsync<OptionsValidationException>(() => TestServer.StartAsync(
            static builder => builder.Services.Configure<FastPortServerOptions>(static options => options.Session.MaxConcurrency = -1),
            cancellationToken: Patience.Token));

        Assert.Contains("MaxConcurrency", wrong.Message, StringComparison.Ordinal);
    }

    private static Action<MessageHandlers> Answer(byte with) =>
        handlers => handlers.MapInline(Greet, (ref InlineRequest request) => request.Reply([with]));
}
