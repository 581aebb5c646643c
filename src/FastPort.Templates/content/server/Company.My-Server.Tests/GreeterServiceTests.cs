using FastPort;
using FastPort.Protocol;
using FastPort.Testing;

namespace Company.My_Server.Tests;

public sealed class GreeterServiceTests
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_caller_is_greeted_by_name()
    {
        await using TestServer test = await StartAsync();
        var greeter = new GreeterClient(test.Client);

        Greeting greeting = await greeter.GreetAsync(new GreetRequest { Name = "Ann" }, cancellationToken: Token);

        Assert.Equal("Hello, Ann!", greeting.Text);
    }

    [Fact]
    public async Task A_caller_without_a_name_is_refused()
    {
        await using TestServer test = await StartAsync();
        var greeter = new GreeterClient(test.Client);

        RequestFailedException failure = await Assert.ThrowsAsync<RequestFailedException>(
            () => greeter.GreetAsync(new GreetRequest(), cancellationToken: Token));

        Assert.Equal(ErrorCode.MalformedBody, failure.Code);
    }

    private static Task<TestServer> StartAsync() =>
        TestServer.StartAsync(builder => builder.MapService<GreeterService>(), cancellationToken: Token);
}
