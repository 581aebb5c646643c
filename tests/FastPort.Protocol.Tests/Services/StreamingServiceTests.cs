using FastPort.Protocol.Tests.Hosting;
using Microsoft.Extensions.DependencyInjection;
using Xunit;

namespace FastPort.Protocol.Tests.Services;

/// <summary>Generated clients and base classes of methods that stream.</summary>
public sealed class StreamingServiceTests
{
    public static TheoryData<string> Endpoints => ["tcp://127.0.0.1:0", "inproc://streaming-services"];

    [Theory]
    [MemberData(nameof(Endpoints))]
    public async Task All_kinds_of_streams_answer(string endpoint)
    {
        await using Loopback loop = await StartAsync(endpoint);
        var client = new CountingClient(loop.Client);

        List<long> counted = await ReadAsync(client.CountAsync(new Number { Value = 1000 }));
        Assert.Equal(Enumerable.Range(1, 1000).Select(static i => (long)i), counted);
        Assert.Equal(500_500, (await client.SumAsync(NumbersAsync(1000)).WaitAsync(Loopback.Soon)).Value);
        Assert.Equal([1, 3, 6, 10], await ReadAsync(client.TotalAsync(NumbersAsync(4))));
    }

    [Fact]
    public async Task A_service_may_answer_before_the_end_of_the_requests()
    {
        await using Loopback loop = await StartAsync();
        bool ended = false;

        Number sum = await new CountingClient(loop.Client).SumAsync(EndlessAsync()).WaitAsync(Loopback.Soon);

        Assert.Equal(6, sum.Value);
        await Patience.UntilAsync(() => Volatile.Read(ref ended), "the producer has ended");

        async IAsyncEnumerable<Number> EndlessAsync()
        {
            try
            {
                for (long i = 3; ; i = i == 0 ? 0 : i - 1)
                {
                    yield return new Number { Value = i };
                    await Task.Yield();
                }
            }
            finally
            {
                Volatile.Write(ref ended, true);
            }
        }
    }

    [Fact]
    public async Task A_refusal_in_the_middle_arrives_after_the_replies_before_it()
    {
        await using Loopback loop = await StartAsync();
        List<long> read = [];

        RequestFailedException e = await Assert.ThrowsAsync<RequestFailedException>(async () =>
        {
            await foreach (Number number in new CountingClient(loop.Client).CountAsync(new Number { Value = -1 }))
            {
                read.Add(number.Value);
            }
        });

        Assert.Equal(ErrorCode.NotFound, e.Code);
        Assert.Equal([1, 2, 3], read);
    }

    [Fact]
    public async Task Methods_that_are_not_overridden_are_unknown()
    {
        await using Loopback loop = await StartAsync();
        var client = new CountingClient(loop.Client);

        RequestFailedException rest = await Assert.ThrowsAsync<RequestFailedException>(() => ReadAsync(client.RestAsync(new Number())));
        RequestFailedException wait = await Assert.ThrowsAsync<RequestFailedException>(() => client.WaitAsync(NumbersAsync(3)));

        Assert.Equal(ErrorCode.UnknownType, rest.Code);
        Assert.Equal(ErrorCode.UnknownType, wait.Code);
    }

    [Theory]
    [InlineData(ServiceLifetime.Scoped)]
    [InlineData(ServiceLifetime.Singleton)]
    public async Task An_instance_lives_as_long_as_its_call(ServiceLifetime lifetime)
    {
        var witness = new StreamWitness();
        await using TestHost host = await TestHost.StartAsync(builder =>
        {
            builder.Services.AddSingleton(witness);
            builder.MapService<CountingService>(lifetime);
        });
        await using FastPortClient connection = await Loopback.ConnectAsync(host.Server);

        await foreach (Number number in new CountingClient(connection).CountAsync(new Number()))
        {
            if (number.Value == 10)
            {
                Assert.False(witness.InstanceDisposed.Task.IsCompleted);
                break;
            }
        }

        await witness.CallEnded.Task.WaitAsync(Loopback.Soon);
        if (lifetime == ServiceLifetime.Scoped)
        {
            await witness.InstanceDisposed.Task.WaitAsync(Loopback.Soon);
        }
        else
        {
            Assert.False(witness.InstanceDisposed.Task.IsCompleted);
        }
    }

    private static async Task<List<long>> ReadAsync(IAsyncEnumerable<Number> numbers)
    {
        List<long> read = [];
        await foreach (Number number in numbers)
        {
            read.Add(number.Value);
        }

        return read;
    }

    private static async IAsyncEnumerable<Number> NumbersAsync(int count)
    {
        for (int i = 1; i <= count; i++)
        {
            yield return new Number { Value = i };
            if (i % 100 == 0)
            {
                await Task.Yield();
            }
        }
    }

    private static Task<Loopback> StartAsync(string endpoint = "tcp://127.0.0.1:0") => Loopback.StartAsync(
        new MessageHandlers().MapService(new CountingService()),
        new MessageHandlers(),
        options =>
        {
            options.Endpoints.Clear();
            options.Endpoints.Add(endpoint);
        });
}
