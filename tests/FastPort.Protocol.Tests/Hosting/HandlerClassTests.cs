using System.Collections.Concurrent;
using Google.Protobuf;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Xunit;

namespace FastPort.Protocol.Tests.Hosting;

public sealed class HandlerClassTests
{
    private const ushort Type = 0x1000;
    private readonly Journal _journal = new();

    [Fact]
    public async Task A_scoped_handler_gets_an_instance_and_a_scope_per_message_disposed_before_the_reply()
    {
        await using TestHost host = await StartAsync(builder => builder.AddHandler<Handler, Echo, Echo>(Type, Echo.Parser));
        await using FastPortClient client = await Loopback.ConnectAsync(host.Server);
        for (int i = 1; i <= 3; i++)
        {
            Echo reply = await client.RequestAsync(Type, Loopback.Message($"{i}"), Echo.Parser);

            Assert.Equal($"{i}", reply.Payload.ToStringUtf8());
            Assert.Equal(i, _journal.Made.Count);
            Assert.Equal(i, _journal.Disposed.Count);
        }

        // The resource that two constructors asked for in one message is one; each message has its own.
        Assert.Equal(3, _journal.Made.Distinct().Count());
        Assert.Equal(_journal.Made, _journal.Disposed);
    }

    [Fact]
    public async Task A_scope_is_disposed_when_the_handler_throws()
    {
        await using TestHost host = await StartAsync(builder => builder.AddHandler<Handler, Echo, Echo>(Type, Echo.Parser));
        await using FastPortClient client = await Loopback.ConnectAsync(host.Server);

        await Assert.ThrowsAsync<RequestFailedException>(() => client.RequestAsync(Type, Loopback.Message("throw"), Echo.Parser));

        Assert.Single(_journal.Disposed);
    }

    [Fact]
    public async Task A_singleton_handler_serves_all_messages_and_lives_as_long_as_the_host()
    {
        await using (TestHost host = await StartAsync(builder =>
        {
            builder.Services.AddSingleton<Resource>();
            builder.AddHandler<Handler, Echo, Echo>(Type, Echo.Parser, ServiceLifetime.Singleton);
        }))
        {
            await using FastPortClient first = await Loopback.ConnectAsync(host.Server);
            await using FastPortClient second = await Loopback.ConnectAsync(host.Server);
            await first.RequestAsync(Type, Loopback.Message("1"), Echo.Parser);
            await second.RequestAsync(Type, Loopback.Message("2"), Echo.Parser);

            Assert.Single(_journal.Made);
            Assert.Empty(_journal.Disposed);
        }

        Assert.Single(_journal.Disposed);
    }

    [Fact]
    public async Task A_body_that_does_not_parse_makes_no_instance()
    {
        await using TestHost host = await StartAsync(builder => builder.AddHandler<Handler, Echo, Echo>(Type, Echo.Parser));
        await using FastPortClient client = await Loopback.ConnectAsync(host.Server);

        RequestFailedException failure = await Loopback.FailureAsync(client, Type, Loopback.NoMessage);

        Assert.Equal(ErrorCode.MalformedBody, failure.Code);
        Assert.Empty(_journal.Made);
    }

    [Fact]
    public async Task A_handler_class_without_reply_takes_one_way_messages_and_requests()
    {
        await using TestHost host = await StartAsync(builder => builder.AddHandler<Receiver, Echo>(Type, Echo.Parser));
        await using FastPortClient client = await Loopback.ConnectAsync(host.Server);

        await client.SendAsync(Type, Loopback.Message("one-way"));
        Assert.Empty(await client.RequestAsync(Type, Loopback.Message("request").ToByteArray()));

        Assert.Equal(["one-way", "request"], _journal.Received);
    }

    [Fact]
    public async Task A_raw_handler_class_gets_the_body()
    {
        await using (TestHost host = await StartAsync(builder => builder.AddHandler<RawHandler>(Type)))
        {
            await using FastPortClient client = await Loopback.ConnectAsync(host.Server);
            Assert.Equal([3, 2, 1], await client.RequestAsync(Type, new byte[] { 1, 2, 3 }));
        }

        // What it answers itself leaves before its scope ends; a stop waits for both.
        Assert.Single(_journal.Disposed);
    }

    [Fact]
    public async Task One_class_serves_several_types()
    {
        await using TestHost host = await StartAsync(builder => builder
            .AddHandler<Handler, Echo, Echo>(Type, Echo.Parser)
            .AddHandler<Handler, Echo, Echo>(Type + 1, Echo.Parser));
        await using FastPortClient client = await Loopback.ConnectAsync(host.Server);

        await client.RequestAsync(Type, Loopback.Message("1"), Echo.Parser);
        await client.RequestAsync(Type + 1, Loopback.Message("2"), Echo.Parser);

        Assert.Equal(2, _journal.Disposed.Count);
    }

    [Fact]
    public async Task A_registration_of_the_users_own_is_kept()
    {
        int made = 0;
        await using TestHost host = await StartAsync(builder =>
        {
            builder.Services.AddScoped(services =>
            {
                made++;
                return new Handler(services.GetRequiredService<Resource>(), services.GetRequiredService<Journal>());
            });
            builder.AddHandler<Handler, Echo, Echo>(Type, Echo.Parser);
        });
        await using FastPortClient client = await Loopback.ConnectAsync(host.Server);

        await client.RequestAsync(Type, Loopback.Message("1"), Echo.Parser);

        Assert.Equal(1, made);
    }

    [Fact]
    public void A_class_cannot_have_two_lifetimes()
    {
        FastPortBuilder builder = new ServiceCollection().AddFastPort(new ConfigurationBuilder().Build());
        builder.AddHandler<Handler, Echo, Echo>(Type, Echo.Parser);

        ArgumentException refused = Assert.Throws<ArgumentException>(
            () => builder.AddHandler<Handler, Echo, Echo>(Type + 1, Echo.Parser, ServiceLifetime.Singleton));

        Assert.Contains("Handler", refused.Message, StringComparison.Ordinal);
        Assert.Contains("Scoped", refused.Message, StringComparison.Ordinal);
        Assert.Contains("Singleton", refused.Message, StringComparison.Ordinal);
    }

    private Task<TestHost> StartAsync(Action<FastPortBuilder> add) => TestHost.StartAsync(builder =>
    {
        builder.Services.AddSingleton(_journal);
        add(builder);
        if (!builder.Services.Any(s => s.ServiceType == typeof(Resource)))
        {
            builder.Services.AddScoped<Resource>();
        }
    });

    private sealed class Journal
    {
        public ConcurrentQueue<int> Made { get; } = new();

        public ConcurrentQueue<int> Disposed { get; } = new();

        public ConcurrentQueue<string> Received { get; } = new();
    }

    private sealed class Resource : IAsyncDisposable
    {
        private readonly Journal _journal;
        private readonly int _number;

        public Resource(Journal journal)
        {
            _journal = journal;
            _number = journal.Made.Count + 1;
            journal.Made.Enqueue(_number);
        }

        public async ValueTask DisposeAsync()
        {
            await Task.Yield();
            _journal.Disposed.Enqueue(_number);
        }
    }

    private sealed class Handler(Resource resource, Journal journal) : IMessageHandler<Echo, Echo>
    {
        public async ValueTask<Echo> HandleAsync(Echo request, RequestContext context)
        {
            Assert.NotNull(resource);
            int disposed = journal.Disposed.Count;
            await Task.Yield();

            // Nobody disposes the scope while its handler runs.
            Assert.Equal(disposed, journal.Disposed.Count);
            return request.Payload.ToStringUtf8() == "throw" ? throw new InvalidOperationException("thrown") : request;
        }
    }

    private sealed class Receiver(Journal journal) : IMessageHandler<Echo>
    {
        public ValueTask HandleAsync(Echo message, RequestContext context)
        {
            journal.Received.Enqueue(message.Payload.ToStringUtf8());
            return ValueTask.CompletedTask;
        }
    }

    private sealed class RawHandler(Resource resource) : IQueuedMessageHandler
    {
        public ValueTask HandleAsync(RequestContext context)
        {
            Assert.NotNull(resource);
            byte[] body = context.Body.ToArray();
            Array.Reverse(body);
            context.Reply(body);
            return ValueTask.CompletedTask;
        }
    }
}
