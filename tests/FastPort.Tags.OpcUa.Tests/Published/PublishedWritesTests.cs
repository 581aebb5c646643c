using FastPort.OpcUa;
using FastPort.OpcUa.Server;
using Xunit;

namespace FastPort.Tags.OpcUa.Tests.Published;

/// <summary>What OPC UA clients write to published tags: their publishers take values only.</summary>
public sealed class PublishedWritesTests
{
    [Fact]
    public async Task A_status_is_refused_and_the_other_values_of_the_request_are_written()
    {
        await using PublishedServer server = await PublishedServer.StartAsync();
        await using TagClient publisher = await server.ConnectAsync("press-4");
        var press = new MemoryTagSource();
        press.Add("speed", 1.0, isWritable: true);
        press.Add("level", 2.0, isWritable: true);
        await publisher.PublishAsync(press);
        VariableNode speed = server.Node("speed"), level = server.Node("level");

        var statuses = new StatusCode[2];
        await speed.OnWrite!(
            new VariableWrite[]
            {
                new(speed, new DataValue(5.0, StatusCodes.UncertainInitialValue)),
                new(level, new DataValue(6.0, StatusCodes.Good, DateTime.UtcNow)),
            },
            statuses,
            Patience.Token);

        Assert.Equal([StatusCodes.BadWriteNotSupported, StatusCodes.Good], statuses);
        var samples = new TagSamples();
        await press.ReadAsync([0, 1], samples, Patience.Token);
        Assert.Equal([1.0, 6.0], Enumerable.Range(0, 2).Select(row => samples.GetValue(row).Get<double>()));
    }

    [Fact]
    public async Task A_FastPort_client_that_reads_within_an_age_gets_what_was_written()
    {
        await using PublishedServer server = await PublishedServer.StartAsync();
        await using TagClient publisher = await server.ConnectAsync("press-4");
        await using TagClient reader = await server.ConnectAsync();
        var press = new MemoryTagSource();
        press.Add("speed", 0, isWritable: true);
        await publisher.PublishAsync(press);
        await reader.ReadAsync("speed");

        for (int i = 1; i <= 20; i++)
        {
            Assert.Equal([StatusCodes.Good], await server.Client.WriteAsync([new(server.Id("speed"), i)], Patience.Token));
            Assert.Equal(i, (await reader.ReadAsync("speed", maxAge: TimeSpan.FromHours(1))).Value.Get<int>());
        }
    }
}
