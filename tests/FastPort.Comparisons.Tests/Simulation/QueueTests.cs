using FastPort.Comparisons.Simulation;
using Xunit;

namespace FastPort.Comparisons.Tests.Simulation;

public sealed class QueueTests
{
    [Theory]
    [InlineData(0.5)]
    [InlineData(0.8)]
    public void A_core_with_arrivals_by_chance_waits_as_the_formula_for_constant_service_times_says(double load)
    {
        const double Service = 10;
        const int Arrivals = 200_000;
        var agenda = new Agenda();
        var processor = new Processor(agenda, cores: 1);
        var thread = new WorkThread();
        var random = new Random(1);
        var waits = new Latencies();
        double at = 0;
        for (int i = 0; i < Arrivals; i++)
        {
            at += -Math.Log(1 - random.NextDouble()) * Service / load;
            double arrived = at;
            agenda.At(arrived, () => processor.Run(thread, Service, () => waits.Add(agenda.Now - arrived - Service)));
        }

        agenda.RunUntil(double.MaxValue);

        // Pollaczek and Khinchine.
        double expected = load * Service / (2 * (1 - load));
        Assert.Equal(Arrivals, waits.Count);
        Assert.InRange(waits.Mean, expected * 0.97, expected * 1.03);
    }

    [Fact]
    public void Threads_take_turns_and_one_that_slept_wakes_up_first()
    {
        var agenda = new Agenda();
        var processor = new Processor(agenda, cores: 1, wake: 2);
        var one = new WorkThread();
        var other = new WorkThread();
        var done = new List<(string Name, double At)>();
        foreach ((string name, WorkThread thread) in ((string, WorkThread)[])[("a", one), ("b", one), ("c", other)])
        {
            processor.Run(thread, 10, () => done.Add((name, agenda.Now)));
        }

        agenda.RunUntil(1000);

        Assert.Equal([("a", 12), ("c", 22), ("b", 32)], done);
        Assert.Equal(30, processor.Busy);
    }

    [Fact]
    public void Redis_visits_a_connection_once_for_all_commands_that_have_come_meanwhile()
    {
        var agenda = new Agenda();
        var costs = new UnitCosts { Visit = 3, Network = 0 };
        var shard = new RedisShard(agenda, costs, new Processor(agenda, 1));
        var connection = new RedisConnection();
        var answered = new List<double>();
        for (int i = 0; i < 4; i++)
        {
            shard.Submit(connection, new RedisCommand(Cost: 1, Bytes: 100) { Done = () => answered.Add(agenda.Now) });
        }

        agenda.RunUntil(1000);

        // The first alone: read, run, write. The others together.
        Assert.Equal([7, 16, 16, 16], answered);
    }
}
