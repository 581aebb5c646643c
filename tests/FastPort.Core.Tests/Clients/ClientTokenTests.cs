using FastPort.Framing;
using Xunit;

namespace FastPort.Core.Tests.Clients;

/// <summary>Tokens of a client: where they come from, and what it does when the server refuses one.</summary>
public sealed class ClientTokenTests : IDisposable
{
    private readonly ScriptedServer _server = new();
    private readonly TemporaryDirectory _directory = new();
    private readonly RecordingLog _log = new();

    public void Dispose()
    {
        _server.Dispose();
        _directory.Dispose();
    }

    [Fact]
    public async Task A_provider_is_asked_at_each_connect()
    {
        int asked = 0;
        await using FastPortClient client = Create(o => o.TokenProvider = _ => ValueTask.FromResult($"token {++asked}"));
        Task connecting = client.ConnectAsync();
        using (ScriptedPeer first = await _server.AcceptAsync())
        {
            Assert.Equal("token 1", await WelcomeAsync(first));
            await connecting.InTimeAsync();
        }

        using ScriptedPeer second = await _server.AcceptAsync();
        Assert.Equal("token 2", await WelcomeAsync(second));
    }

    [Fact]
    public async Task A_refused_token_is_not_sent_again_and_requests_fail_until_there_is_another()
    {
        string token = "old";
        int asked = 0;
        await using FastPortClient client = Create(o => o.TokenProvider = _ =>
        {
            Interlocked.Increment(ref asked);
            return ValueTask.FromResult(Volatile.Read(ref token));
        });
        Task connecting = client.ConnectAsync();
        using (ScriptedPeer first = await _server.AcceptAsync())
        {
            await WelcomeAsync(first);
            await connecting.InTimeAsync();
        }

        using (ScriptedPeer second = await _server.AcceptAsync())
        {
            await RefuseAsync(second);
        }

        int before = Volatile.Read(ref asked);
        await Patience.UntilAsync(() => Volatile.Read(ref asked) > before + 3, "the provider was asked again");
        RequestFailedException e = await Assert.ThrowsAsync<RequestFailedException>(() => Request(client).InTimeAsync());
        Assert.Equal(RequestFailure.NotConnected, e.Failure);
        Assert.Contains("No such key.", e.Message, StringComparison.Ordinal);
        Assert.Contains("TokenProvider", e.Message, StringComparison.Ordinal);
        Assert.Single(_log.WithId(4005));

        Volatile.Write(ref token, "new");
        using ScriptedPeer third = await _server.AcceptAsync();
        Assert.Equal("new", await WelcomeAsync(third));
        await Patience.UntilAsync(() => client.Session is not null, "the client is connected");
        Task<byte[]> request = Request(client);
        await third.ReplyAsync(await third.ReadAsync(), 7);
        Assert.Equal([7], await request.InTimeAsync());
    }

    [Fact]
    public async Task A_client_with_one_token_for_good_ends_when_it_is_refused()
    {
        await using FastPortClient client = Create(static o => o.Token = "old");
        Task connecting = client.ConnectAsync();
        using (ScriptedPeer first = await _server.AcceptAsync())
        {
            await WelcomeAsync(first);
            await connecting.InTimeAsync();
        }

        using (ScriptedPeer second = await _server.AcceptAsync())
        {
            await RefuseAsync(second);
        }

        await Patience.UntilAsync(() => _log.WithId(4005).Count == 1, "the refusal was logged");
        RequestFailedException e = await Assert.ThrowsAsync<RequestFailedException>(() => Request(client).InTimeAsync());
        Assert.Equal(RequestFailure.Closed, e.Failure);
        Assert.Contains("No such key.", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_client_whose_next_token_is_too_large_says_why_it_ends()
    {
        string token = "first";
        await using FastPortClient client = Create(o =>
        {
            o.Session.MaxFrameBytes = 1024;
            o.TokenProvider = _ => ValueTask.FromResult(token);
        });
        Task connecting = client.ConnectAsync();
        using (ScriptedPeer first = await _server.AcceptAsync())
        {
            await WelcomeAsync(first);
            await connecting.InTimeAsync();
            token = new string('x', 1024);
        }

        await Patience.UntilAsync(() => _log.WithId(4006).Count == 1, "the reason was logged");
        RequestFailedException e = await Assert.ThrowsAsync<RequestFailedException>(() => Request(client).InTimeAsync());
        Assert.Contains("the frame limit allows", _log.WithId(4006)[0].Text, StringComparison.Ordinal);
        Assert.Equal(RequestFailure.Closed, e.Failure);
    }

    [Fact]
    public async Task The_first_connect_fails_with_the_refusal_and_can_be_tried_again_with_the_same_token()
    {
        await using FastPortClient client = Create(static o => (o.Token, o.RetryConnect) = ("old", true));
        for (int round = 0; round < 2; round++)
        {
            Task connecting = client.ConnectAsync();
            using ScriptedPeer peer = await _server.AcceptAsync();
            await RefuseAsync(peer);
            RequestFailedException e = await Assert.ThrowsAsync<RequestFailedException>(() => connecting.InTimeAsync());
            Assert.Equal(ErrorCode.Unauthenticated, e.Code);
        }
    }

    [Fact]
    public async Task Any_other_failure_of_a_Hello_is_retried_with_the_same_token()
    {
        await using FastPortClient client = Create(static o => (o.Token, o.RetryConnect) = ("good", true));
        Task connecting = client.ConnectAsync();
        using (ScriptedPeer first = await _server.AcceptAsync())
        {
            await RefuseAsync(first, ErrorCode.Unavailable);
        }

        using ScriptedPeer second = await _server.AcceptAsync();
        Assert.Equal("good", await WelcomeAsync(second));
        await connecting.InTimeAsync();
    }

    [Fact]
    public async Task A_token_file_is_read_at_each_connect()
    {
        string file = Path.Combine(_directory.Path, "token");
        await File.WriteAllTextAsync(file, " first\n", TestContext.Current.CancellationToken);
        await using FastPortClient client = Create(o => o.TokenFile = file);
        Task connecting = client.ConnectAsync();
        using (ScriptedPeer first = await _server.AcceptAsync())
        {
            Assert.Equal("first", await WelcomeAsync(first));
            await connecting.InTimeAsync();
            await File.WriteAllTextAsync(file, "second", TestContext.Current.CancellationToken);
        }

        using ScriptedPeer second = await _server.AcceptAsync();
        Assert.Equal("second", await WelcomeAsync(second));
    }

    [Fact]
    public async Task A_token_file_that_is_missing_is_named()
    {
        string file = Path.Combine(_directory.Path, "missing");
        await using FastPortClient client = Create(o => o.TokenFile = file);

        FileNotFoundException e = await Assert.ThrowsAsync<FileNotFoundException>(() => client.ConnectAsync().InTimeAsync());

        Assert.Contains(file, e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_provider_that_throws_is_a_failed_attempt()
    {
        int asked = 0;
        await using FastPortClient client = Create(o =>
        {
            o.RetryConnect = true;
            o.TokenProvider = _ => ++asked == 1 ? throw new IOException("The vault is sealed.") : ValueTask.FromResult("late");
        });
        Task connecting = client.ConnectAsync();

        using ScriptedPeer peer = await _server.AcceptAsync();

        Assert.Equal("late", await WelcomeAsync(peer));
        await connecting.InTimeAsync();
        Assert.Contains("The vault is sealed.", Assert.Single(_log.WithId(4002)).Text, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_provider_that_ignores_its_token_is_waited_for_within_the_connect_timeout()
    {
        await using FastPortClient client = Create(static o =>
        {
            o.ConnectTimeout = TimeSpan.FromMilliseconds(20);
            o.TokenProvider = static _ => new ValueTask<string>(new TaskCompletionSource<string>().Task);
        });

        TimeoutException e = await Assert.ThrowsAsync<TimeoutException>(() => client.ConnectAsync().InTimeAsync());

        Assert.Contains("TokenProvider gave no token within 0.02 s", e.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_provider_whose_callback_on_its_token_throws_holds_up_neither_the_close_nor_its_deadline(bool closes)
    {
        var asked = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        FastPortClient client = Create(o =>
        {
            o.ConnectTimeout = closes ? TimeSpan.FromMinutes(1) : TimeSpan.FromMilliseconds(20);
            o.TokenProvider = cancellationToken =>
            {
                cancellationToken.Register(static () => throw new InvalidOperationException("a provider's own"));
                asked.SetResult();
                return new ValueTask<string>(new TaskCompletionSource<string>().Task);
            };
        });
        Task connecting = client.ConnectAsync();
        await asked.Task.InTimeAsync();

        if (closes)
        {
            await client.CloseAsync().InTimeAsync();
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => connecting.InTimeAsync());
        }
        else
        {
            await Assert.ThrowsAsync<TimeoutException>(() => connecting.InTimeAsync());
            await client.CloseAsync().InTimeAsync();
        }
    }

    [Fact]
    public void Only_one_source_of_tokens_may_be_set()
    {
        var options = new FastPortClientOptions { Token = "a", TokenFile = "b" };

        Assert.Contains("TokenProvider", Assert.Single(options.Validate()), StringComparison.Ordinal);
    }

    private FastPortClient Create(Action<FastPortClientOptions> configure)
    {
        var options = new FastPortClientOptions
        {
            Endpoint = _server.Endpoint,
            ReconnectDelay = TimeSpan.FromMilliseconds(1),
            MaxReconnectDelay = TimeSpan.FromMilliseconds(5),
        };
        configure(options);
        return new FastPortClient(options, loggerFactory: _log);
    }

    private static async Task<string> WelcomeAsync(ScriptedPeer peer)
    {
        ScriptedFrame hello = await peer.ReadAsync();
        Assert.True(HelloBody.TryRead(hello.Body, out HelloBody body));
        await peer.WelcomeAsync(hello);
        return body.Token;
    }

    private static async Task RefuseAsync(ScriptedPeer peer, ErrorCode code = ErrorCode.Unauthenticated)
    {
        ScriptedFrame hello = await peer.ReadAsync();
        await peer.WriteAsync(
            hello.Header.Type,
            FrameFlags.Reply | FrameFlags.Error,
            hello.Header.Correlation,
            ScriptedPeer.Encode(new CodeBody(code, "No such key.")));
        await peer.ReadToEndAsync();
    }

    private static async Task<byte[]> Request(FastPortClient client) =>
        (await client.RequestAsync(CountingServer.InlineEcho, new byte[1], TimeSpan.FromSeconds(30))).ToArray();
}
