namespace Company.My_Client.Tests;

public sealed class VisitorTests
{
    [Fact]
    public async Task A_visitor_leaves_after_four_greetings()
    {
        var output = new StringWriter { NewLine = "|" };

        await new Visitor(new TirelessGreeter(), output).VisitAsync("Ann", TestContext.Current.CancellationToken);

        Assert.Equal("Hello, Ann|Again, Ann|Again, Ann|Again, Ann|", output.ToString());
    }

    private sealed class TirelessGreeter : IGreeterClient
    {
        public Task<Greeting> GreetAsync(
            GreetRequest request, TimeSpan? timeout = null, CancellationToken cancellationToken = default) =>
            Task.FromResult(new Greeting { Text = $"Hello, {request.Name}" });

        public IAsyncEnumerable<Greeting> WatchAsync(
            GreetRequest request,
            TimeSpan? timeout = null,
            TimeSpan? wholeTimeout = null,
            CancellationToken cancellationToken = default) =>
            Enumerable.Repeat(new Greeting { Text = $"Again, {request.Name}" }, int.MaxValue).ToAsyncEnumerable();
    }
}
