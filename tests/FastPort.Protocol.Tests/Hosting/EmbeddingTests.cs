using System.Text;
using FastPort.Telemetry;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Xunit;

namespace FastPort.Protocol.Tests.Hosting;

/// <summary>What a program gets that adds a server to its host: nothing unasked, and what it asks for.</summary>
public sealed class EmbeddingTests
{
    private const ushort Type = 0x1000;

    [Fact]
    public async Task Without_a_section_LatencyStats_nothing_is_written_or_measured()
    {
        await using TestHost host = await TestHost.StartAsync(MapEmpty);
        await HandleOneAsync(host);

        var options = host.Host.Services.GetRequiredService<IOptions<LatencyStatsOptions>>().Value;
        Assert.Equal((false, false), (options.EnableConsoleOutput, options.EnableFileOutput));
        Assert.Empty(host.Host.Services.GetRequiredService<LatencyStats>().Read().Types);
    }

    [Theory]
    [InlineData("FileWriteIntervalSeconds", "5", true, true)]
    [InlineData("EnableConsoleOutput", "true", true, true)]
    [InlineData("EnableConsoleOutput", "false", false, true)]
    [InlineData("EnableFileOutput", "false", true, false)]
    public void A_section_LatencyStats_turns_on_what_it_does_not_turn_off(string key, string value, bool console, bool files)
    {
        using var host = TestHost.Build(MapEmpty, ($"LatencyStats:{key}", value));

        var options = host.Services.GetRequiredService<IOptions<LatencyStatsOptions>>().Value;

        Assert.Equal((console, files), (options.EnableConsoleOutput, options.EnableFileOutput));
    }

    [Fact]
    public async Task MeasureLatencies_measures_without_a_report()
    {
        await using TestHost host = await TestHost.StartAsync(static builder => MapEmpty(builder.MeasureLatencies()));
        await HandleOneAsync(host);

        var options = host.Host.Services.GetRequiredService<IOptions<LatencyStatsOptions>>().Value;
        Assert.Equal((false, false), (options.EnableConsoleOutput, options.EnableFileOutput));
        Assert.Equal(1, host.Host.Services.GetRequiredService<LatencyStats>().Read().Types.Single(static t => t.Key == Type).LifetimeCount);
    }

    [Fact]
    public async Task Sessions_are_told_of_once_each_with_the_hosts_services()
    {
        var closed = new TaskCompletionSource<(Session Session, CloseReason Reason)>(TaskCreationOptions.RunContinuationsAsynchronously);
        List<Session> opened = [];
        await using TestHost host = await TestHost.StartAsync(builder => MapEmpty(builder
            .OnSessionOpened((services, session) =>
            {
                Assert.NotNull(services.GetRequiredService<FastPortServer>());
                opened.Add(session);
            })
            .OnSessionClosed((services, session, reason) =>
            {
                Assert.NotNull(services.GetRequiredService<FastPortServer>());
                closed.SetResult((session, reason));
            })));

        await HandleOneAsync(host);

        (Session gone, CloseReason why) = await closed.Task.WaitAsync(Loopback.Soon);
        Assert.Same(Assert.Single(opened), gone);
        Assert.Equal(CloseKind.PeerClosed, why.Kind);
    }

    [Fact]
    public async Task Raw_and_typed_one_way_messages_go_both_ways_and_wait_for_room()
    {
        var atClient = new TaskCompletionSource<string>(TaskCreationOptions.RunContinuationsAsynchronously);
        List<string> received = [];
        MessageHandlers pushes = new MessageHandlers().MapInline(Type, (ref InlineRequest request) => Add(ref request));
        await using Loopback loop = await Loopback.StartAsync(
            new MessageHandlers().MapQueued(Type + 1, async context =>
            {
                Assert.Equal(SendStatus.Queued, await context.Session.TrySendAsync(Type, "raw"u8.ToArray()));
                Assert.Equal(SendStatus.Queued, await context.Session.TrySendAsync(Type, Loopback.Message("typed")));
            }),
            pushes);

        Assert.Equal(SendStatus.Queued, await loop.Client.TrySendAsync(Type + 1, ReadOnlyMemory<byte>.Empty));

        Assert.Equal("raw,typed", await atClient.Task.WaitAsync(Loopback.Soon));

        void Add(ref InlineRequest request)
        {
            received.Add(received.Count == 0
                ? Encoding.UTF8.GetString(request.Body.FirstSpan)
                : Echo.Parser.ParseFrom(request.Body).Payload.ToStringUtf8());
            if (received.Count == 2)
            {
                atClient.SetResult(string.Join(',', received));
            }
        }
    }

    private static void MapEmpty(FastPortBuilder builder) =>
        builder.Map(static handlers => handlers.MapInline(Type, (ref InlineRequest _) => { }));

    // Closed before it returns, so the message has been measured if it ever will be.
    private static async Task HandleOneAsync(TestHost host)
    {
        var closed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        host.Server.SessionClosed += (_, _) => closed.TrySetResult();
        await using (FastPortClient client = await Loopback.ConnectAsync(host.Server))
        {
            await client.RequestAsync(Type, ReadOnlyMemory<byte>.Empty);
        }

        await closed.Task.WaitAsync(Loopback.Soon);
    }
}
