using System.Collections.Concurrent;
using FastPort.Protocol.Tests.Hosting;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Xunit;

namespace FastPort.Protocol.Tests.Services;

/// <summary>Services that a host's container creates.</summary>
public sealed class ServiceLifetimeTests
{
    private readonly Journal _journal = new();

    [Theory]
    [InlineData(ServiceLifetime.Scoped)]
    [InlineData(ServiceLifetime.Transient)]
    public async Task Each_message_has_its_own_instance_that_is_disposed_before_the_reply(ServiceLifetime lifetime)
    {
        await using TestHost host = await StartAsync(builder => builder.MapService<Service>(lifetime));
        await using FastPortClient connection = await Loopback.ConnectAsync(host.Server);
        var client = new WalkingClient(connection);

        await client.WalkAsync(new Step());
        Assert.Equal([1], _journal.Disposed);
        await client.LookAsync(new Step());
        Assert.Equal([1, 2], _journal.Disposed);
        Assert.Equal(2, _journal.Made);
    }

    [Fact]
    public async Task Scoped_is_the_default()
    {
        await using TestHost host = await StartAsync(static builder => builder.MapService<Service>());

        Assert.NotNull(host.Host.Services.CreateScope().ServiceProvider.GetService<Service>());
        Assert.Throws<InvalidOperationException>(() => Validating().GetService<Service>());

        ServiceProvider Validating()
        {
            IServiceCollection services = new ServiceCollection().AddSingleton(_journal);
            services.AddFastPort(new ConfigurationBuilder().Build()).MapService<Service>();
            return services.BuildServiceProvider(validateScopes: true);
        }
    }

    [Fact]
    public async Task A_singleton_serves_all_messages_and_is_not_created_before_the_first()
    {
        await using (TestHost host = await StartAsync(static builder => builder.MapService<Service>(ServiceLifetime.Singleton)))
        {
            Assert.Equal(0, _journal.Made);
            await using FastPortClient connection = await Loopback.ConnectAsync(host.Server);
            var client = new WalkingClient(connection);

            await client.WalkAsync(new Step());
            await client.LookAsync(new Step());
            await client.LookAsync(new Step());

            Assert.Equal(1, _journal.Made);
            Assert.Empty(_journal.Disposed);
        }

        Assert.Single(_journal.Disposed);
    }

    [Fact]
    public async Task An_instance_is_disposed_when_its_method_throws()
    {
        await using TestHost host = await StartAsync(static builder => builder.MapService<Service>());
        await using FastPortClient connection = await Loopback.ConnectAsync(host.Server);
        var client = new WalkingClient(connection);

        await Assert.ThrowsAsync<RequestFailedException>(() => client.LookAsync(new Step { Note = "throw" }));
        await Assert.ThrowsAsync<RequestFailedException>(() => client.WalkAsync(new Step { Note = "throw" }));

        Assert.Equal([1, 2], _journal.Disposed);
    }

    [Theory]
    [InlineData(0x2000)]
    [InlineData(0x2002)]
    public async Task A_body_that_does_not_parse_creates_no_instance(int type)
    {
        await using TestHost host = await StartAsync(static builder => builder.MapService<Service>());
        await using FastPortClient client = await Loopback.ConnectAsync(host.Server);

        RequestFailedException failure = await Loopback.FailureAsync(client, (ushort)type, Loopback.NoMessage);

        Assert.Equal(ErrorCode.MalformedBody, failure.Code);
        Assert.Equal(0, _journal.Made);
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
                return new Service(services.GetRequiredService<Journal>());
            });
            builder.MapService<Service>();
        });
        await using FastPortClient connection = await Loopback.ConnectAsync(host.Server);

        await new WalkingClient(connection).LookAsync(new Step());

        Assert.Equal(1, made);
    }

    [Fact]
    public void A_service_cannot_have_two_lifetimes()
    {
        FastPortBuilder builder = new ServiceCollection().AddFastPort(new ConfigurationBuilder().Build());
        builder.Services.AddSingleton<Service>();

        ArgumentException refused = Assert.Throws<ArgumentException>(() => builder.MapService<Service>());

        Assert.Contains("Service", refused.Message, StringComparison.Ordinal);
        Assert.Contains("Singleton", refused.Message, StringComparison.Ordinal);
    }

    private Task<TestHost> StartAsync(Action<FastPortBuilder> add) => TestHost.StartAsync(builder =>
    {
        builder.Services.AddSingleton(_journal);
        add(builder);
    });

    private sealed class Journal
    {
        private int _made;

        public int Made => _made;

        public ConcurrentQueue<int> Disposed { get; } = new();

        public int Make() => Interlocked.Increment(ref _made);
    }

    private sealed class Service(Journal journal) : WalkingBase, IDisposable
    {
        private readonly int _number = journal.Make();

        public override async ValueTask<Place> WalkAsync(Step request, RequestContext context)
        {
            await Task.Yield();
            return Look(request, context.Session);
        }

        public override Place Look(Step request, Session session)
        {
            Assert.DoesNotContain(_number, journal.Disposed);
            return request.Note == "throw" ? throw new InvalidOperationException("thrown") : new Place();
        }

        public void Dispose() => journal.Disposed.Enqueue(_number);
    }
}
