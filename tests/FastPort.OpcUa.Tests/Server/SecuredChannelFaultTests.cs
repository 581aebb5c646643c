using System.Buffers;
using System.Runtime.CompilerServices;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Tests.Support;
using Microsoft.Extensions.Logging;
using Xunit;

namespace FastPort.OpcUa.Tests.Server;

/// <summary>
/// Somebody between a client and a server changes, drops or repeats chunks; and a flood of channels that take RSA. They hold the steps of
/// the whole process, so they run alone.
/// </summary>
[Collection(AloneCollection.Name)]
public sealed class SecuredChannelFaultTests : IAsyncLifetime
{
    private static readonly string Folder = TemporaryDirectory.OfProcess().Path;
    private static readonly ApplicationCertificate Own =
        ApplicationCertificate.Create("urn:test:client", "client", [], TimeProvider.System.GetUtcNow());

    // Steps that run at a time.
    private static readonly int Places = Math.Max(1, Environment.ProcessorCount / 2);

    private TestServer _server = null!;

    public async ValueTask InitializeAsync() => _server = await TestServer.StartAsync(configure: static o =>
    {
        o.SecurityPolicies = [OpcUaSecurityPolicy.None, OpcUaSecurityPolicy.Basic256Sha256];
        o.Certificates.Directory = Folder;
        o.Certificates.UnsafeTrustAll = true;
    });

    public ValueTask DisposeAsync() => _server.DisposeAsync();

    [Theory]
    [InlineData(16)]
    [InlineData(40)]
    [InlineData(-1)]
    [InlineData(-20)]
    public async Task A_byte_of_a_request_was_changed(int position)
    {
        await using var relay = new ChunkRelay(_server, (type, number, chunk) =>
        {
            chunk[position < 0 ? ^-position : position] ^= (byte)(type == MessageType.Message && number == 3 ? 1 : 0);
            return [chunk];
        });
        await AssertRefusedAsync(relay, StatusCodes.BadSecurityChecksFailed);
    }

    [Fact]
    public async Task A_request_was_repeated()
    {
        await using var relay = new ChunkRelay(
            _server, static (type, number, chunk) => type == MessageType.Message && number == 3 ? [chunk, chunk] : [chunk]);
        await using ChannelClient client = await ConnectAsync(relay);
        await client.Channel.Opened.InTimeAsync();
        Assert.Equal(StatusCodes.Good, await client.AskAsync());
        Assert.Equal(StatusCodes.Good, await client.AskAsync());

        // The first of the two may still be answered.
        Assert.True(await client.AskAsync() is { IsGood: true } or { Value: 0x8013_0000 });
        await client.Connection.Closed.InTimeAsync();
        Assert.False((await client.AskAsync()).IsGood);
    }

    [Fact]
    public async Task A_request_was_dropped()
    {
        await using var relay = new ChunkRelay(
            _server, static (type, number, chunk) => type == MessageType.Message && number == 3 ? [] : [chunk]);
        await using ChannelClient client = await ConnectAsync(relay);
        await client.Channel.Opened.InTimeAsync();
        Assert.Equal(StatusCodes.Good, await client.AskAsync());
        Assert.Equal(StatusCodes.Good, await client.AskAsync());
        Task<StatusCode> dropped = client.AskAsync();
        Assert.Equal(StatusCodes.BadSecurityChecksFailed, await client.AskAsync());
        Assert.Equal(StatusCodes.BadSecurityChecksFailed, await dropped);
    }

    [Theory]
    [InlineData(-1)]
    [InlineData(-300)]
    public async Task A_byte_of_the_opening_was_changed(int position)
    {
        await using var relay = new ChunkRelay(_server, (type, number, chunk) =>
        {
            chunk[^Math.Min(-position, chunk.Length - 8)] ^= (byte)(type == MessageType.Open ? 1 : 0);
            return [chunk];
        });
        await using ChannelClient client = await ConnectAsync(relay);
        OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(() => client.Channel.Opened.InTimeAsync());
        Assert.Equal(StatusCodes.BadSecurityChecksFailed, e.Status);
    }

    [Fact]
    public async Task The_opening_is_for_another_certificate_than_the_servers()
    {
        await using var relay = new ChunkRelay(_server, static (type, number, chunk) =>
        {
            if (type == MessageType.Open)
            {
                // The last byte of the thumbprint.
                AsymmetricHeader.TryRead(chunk, out _, out int clear);
                chunk[clear - 1] ^= 1;
            }

            return [chunk];
        });
        await using ChannelClient client = await ConnectAsync(relay);
        OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(() => client.Channel.Opened.InTimeAsync());
        Assert.Equal(StatusCodes.BadCertificateInvalid, e.Status);
    }

    [Fact]
    public async Task The_opening_was_repeated()
    {
        await using var relay = new ChunkRelay(
            _server, static (type, _, chunk) => type == MessageType.Open ? [chunk, chunk] : [chunk]);
        await using ChannelClient client = await ConnectAsync(relay);
        await client.Connection.Closed.InTimeAsync();
        Assert.False((await client.AskAsync()).IsGood);
    }

    [Fact]
    public async Task A_channel_whose_opening_waits_for_a_processor_holds_up_nobody_else()
    {
        byte[] opening = await RecordOpeningAsync(_server);
        TaskCompletionSource release = HoldSteps();
        using RawChannel secured = await SendOpeningAsync(_server, opening);
        Task<(uint Type, byte[] Chunk)> opened = secured.ReceiveAsync();
        await using ChannelClient plain = await ChannelClient.ConnectAsync(_server.Url);
        await plain.Channel.Opened.InTimeAsync();
        for (int i = 0; i < 100; i++)
        {
            Assert.Equal(StatusCodes.Good, await plain.AskAsync());
        }

        Assert.False(opened.IsCompleted);
        release.SetResult();
        Assert.Equal(MessageType.Open, (await opened.InTimeAsync()).Type);
    }

    [Fact]
    public async Task A_client_that_leaves_while_its_channel_is_opened_is_forgotten()
    {
        byte[] opening = await RecordOpeningAsync(_server);
        await Patience.UntilAsync(() => _server.Server.Channels.Count == 0, "the first one has left");
        TaskCompletionSource release = HoldSteps();
        RawChannel secured = await SendOpeningAsync(_server, opening);
        await Patience.UntilAsync(static () => AsideWork.Shared.WaitingCount == 1, "its step waits");
        secured.Reset();
        await Patience.UntilAsync(() => _server.Server.Channels.Count == 0, "it was forgotten");
        release.SetResult();
        await using ChannelClient next = await ChannelClient.ConnectAsync(_server.Url, ChannelClient.Credentials(_server, Own));
        await next.Channel.Opened.InTimeAsync();
        Assert.Equal(StatusCodes.Good, await next.AskAsync());
    }

    [Fact]
    public async Task Openings_whose_clients_have_left_neither_wait_nor_run()
    {
        const int Clients = 100;
        string folder = Directory.CreateTempSubdirectory("opcua-").FullName;
        string rejected = Path.Combine(folder, "rejected");
        await using TestServer server = await TestServer.StartAsync(configure: o =>
        {
            o.SecurityPolicies = [OpcUaSecurityPolicy.None, OpcUaSecurityPolicy.Basic256Sha256];
            o.Certificates.Directory = folder;
        });
        byte[] opening = await RecordOpeningAsync(server, isTrusted: false);

        // Whoever checks the certificate puts it there again.
        File.Delete(Assert.Single(Directory.GetFiles(rejected)));
        TaskCompletionSource release = HoldSteps();
        List<RawChannel> clients = [];
        for (int i = 0; i < Clients; i++)
        {
            clients.Add(await SendOpeningAsync(server, opening));
        }

        await Patience.UntilAsync(static () => AsideWork.Shared.WaitingCount == Clients, "all steps wait");
        clients.ForEach(static client => client.Reset());
        await Patience.UntilAsync(static () => AsideWork.Shared.WaitingCount == 0, "none waits");
        var after = new TaskCompletionSource();
        AsideWork.Shared.Run(after.SetResult);
        release.SetResult();

        await after.Task.InTimeAsync();
        Assert.Empty(Directory.GetFiles(rejected));
        Directory.Delete(folder, recursive: true);
    }

    [Fact]
    public async Task A_step_that_waited_and_has_ended_is_kept_by_nobody()
    {
        await using ChannelClient client = await ChannelClient.ConnectAsync(_server.Url);
        await client.Channel.Opened.InTimeAsync();
        TaskCompletionSource release = HoldSteps();
        var done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        WeakReference held = RunAside(client, done);
        await Patience.UntilAsync(static () => AsideWork.Shared.WaitingCount == 1, "the step waits");
        release.SetResult();
        await done.Task.InTimeAsync();

        await Patience.UntilAsync(
            () =>
            {
                GC.Collect();
                return !held.IsAlive;
            },
            "nobody keeps what the step used");
        Assert.Equal(StatusCodes.Good, await client.AskAsync());
    }

    [Fact]
    public async Task A_step_whose_turn_comes_while_its_connection_closes_does_not_run()
    {
        await using ChannelClient client = await ChannelClient.ConnectAsync(_server.Url);
        await client.Channel.Opened.InTimeAsync();
        TaskCompletionSource release = HoldSteps();
        bool hasRun = false;
        var closing = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        using var goOn = new ManualResetEventSlim();
        client.Connection.Post(
            _ =>
            {
                client.Channel.RunAside(
                    () =>
                    {
                        hasRun = true;
                        return null;
                    },
                    static () => { });
                client.Connection.Close(CloseReason.LocalClosed);

                // The close cannot end before this does, so it cannot take the step back.
                closing.SetResult();
                goOn.Wait(Patience.Limit);
            },
            null);
        await closing.Task.InTimeAsync();
        Task passed = PassSteps();
        release.SetResult();
        await passed.InTimeAsync();
        goOn.Set();

        await client.Connection.Closed.InTimeAsync();
        Assert.False(hasRun);
    }

    [Fact]
    public async Task An_opening_with_more_to_decrypt_than_any_client_sends_is_refused_before_its_turn()
    {
        byte[] opening = await RecordOpeningAsync(_server);
        TaskCompletionSource release = HoldSteps();
        using RawChannel channel = await RawChannel.ConnectAsync(_server);
        await channel.SendHelloAsync();
        await channel.ReceiveAsync();
        AsymmetricHeader.TryRead(opening, out _, out int clear);
        byte[] block = opening[clear..(clear + 256)];
        byte[] blocks = [.. Enumerable.Repeat(block, 9).SelectMany(static one => one)];

        await channel.SendAsync(MessageType.Open, [.. opening[8..clear], .. blocks]);

        Assert.Equal(StatusCodes.BadTcpMessageTooLarge, await channel.ReceiveErrorAsync());
        release.SetResult();
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task The_opening_has_a_certificate_whose_key_cannot_be_read(bool trustsAll)
    {
        string folder = Directory.CreateTempSubdirectory("opcua-").FullName;
        var log = new RecordingLog();
        await using TestServer server = await TestServer.StartAsync(
            configure: o =>
            {
                o.SecurityPolicies = [OpcUaSecurityPolicy.Basic256Sha256];
                o.Certificates.Directory = folder;
                o.Certificates.UnsafeTrustAll = trustsAll;
            },
            log: log);
        using RawChannel channel = await RawChannel.ConnectAsync(server);
        await channel.SendHelloAsync();
        await channel.ReceiveAsync();
        using var header = new MessageBuffer(ArrayPool<byte>.Shared);
        new AsymmetricHeader(
            0, SecurityPolicy.Basic256Sha256.Uri, BadKeys.Unreadable(), server.Server.Certificates!.Own.Thumbprint).Write(header);

        await channel.SendAsync(MessageType.Open, [.. header.Written[8..], .. new byte[256]]);

        Assert.Equal(StatusCodes.BadSecurityChecksFailed, await channel.ReceiveErrorAsync());
        Assert.DoesNotContain(log.Lines, static line => line.Level >= LogLevel.Error);
        Assert.Contains("BadCertificateInvalid", Assert.Single(log.WithId(7003)).Text, StringComparison.Ordinal);
        Directory.Delete(folder, recursive: true);
    }

    // Takes all places for steps until the result is set.
    private static TaskCompletionSource HoldSteps()
    {
        var release = new TaskCompletionSource();
        for (int i = 0; i < Places; i++)
        {
            AsideWork.Shared.Run(() => release.Task.Wait(Patience.Limit));
        }

        return release;
    }

    // Completes when all steps before it have ended: one step in each place, which waits for the others.
    private static Task PassSteps()
    {
        int left = Places;
        var all = new TaskCompletionSource();
        for (int i = 0; i < Places; i++)
        {
            AsideWork.Shared.Run(() =>
            {
                if (Interlocked.Decrement(ref left) == 0)
                {
                    all.SetResult();
                }

                all.Task.Wait(Patience.Limit);
            });
        }

        return all.Task;
    }

    // A step with an object that nothing else refers to.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static WeakReference RunAside(ChannelClient client, TaskCompletionSource done)
    {
        object used = new();
        client.Connection.Post(
            _ => client.Channel.RunAside(
                () =>
                {
                    GC.KeepAlive(used);
                    return null;
                },
                done.SetResult),
            null);
        return new WeakReference(used);
    }

    // What a client has sent to open a channel: anybody can send it again on another connection.
    private static async Task<byte[]> RecordOpeningAsync(TestServer server, bool isTrusted = true)
    {
        byte[] opening = [];
        await using var relay = new ChunkRelay(server, (type, _, chunk) =>
        {
            opening = type == MessageType.Open ? chunk : opening;
            return [chunk];
        });
        await using ChannelClient client = await ChannelClient.ConnectAsync(relay.Url, ChannelClient.Credentials(server, Own));
        Exception? refused = await Record.ExceptionAsync(() => client.Channel.Opened.InTimeAsync());
        Assert.Equal(isTrusted, refused is null);
        return opening;
    }

    private static async Task<RawChannel> SendOpeningAsync(TestServer server, byte[] opening)
    {
        RawChannel channel = await RawChannel.ConnectAsync(server);
        await channel.SendHelloAsync();
        await channel.ReceiveAsync();
        await channel.SendBytesAsync(opening);
        return channel;
    }

    private async Task<ChannelClient> ConnectAsync(ChunkRelay relay) =>
        await ChannelClient.ConnectAsync(relay.Url, ChannelClient.Credentials(_server, Own));

    private async Task AssertRefusedAsync(ChunkRelay relay, StatusCode status)
    {
        await using ChannelClient client = await ConnectAsync(relay);
        await client.Channel.Opened.InTimeAsync();
        Assert.Equal(StatusCodes.Good, await client.AskAsync());
        Assert.Equal(StatusCodes.Good, await client.AskAsync());
        Assert.Equal(status, await client.AskAsync());
        await client.Connection.Closed.InTimeAsync();
    }
}
