using FastPort.OpcUa.Client;
using FastPort.OpcUa.Server;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Server;

/// <summary>
/// Calls of the application have no execution context: nothing of other clients' calls, nor of the code that started the server.
/// </summary>
public sealed class CallContextTests
{
    private static readonly NodeId Asked = new(2, 1);
    private static readonly NodeId Written = new(2, 2);
    private static readonly NodeId Owner = new(2, 3);
    private static readonly NodeId Method = new(2, 4);

    private readonly ContextProbe _probe = new();

    [Fact]
    public async Task No_call_of_the_application_sees_what_another_one_has_left()
    {
        _probe.Leave("the starter");
        await using TestServer server = await TestServer.StartAsync(
            space =>
            {
                space.AddVariable<int>(AddressSpace.ObjectsFolder, Asked, "Asked", () =>
                {
                    _probe.Visit("read");
                    return new DataValue(7);
                });
                space.AddVariableOfType(AddressSpace.ObjectsFolder, Written, "Written", BuiltInType.Int32, -1, (_, _, _) =>
                {
                    _probe.Visit("write");
                    return ValueTask.CompletedTask;
                });
                space.AddObject(AddressSpace.ObjectsFolder, Owner, "Owner");
                space.AddMethod(Owner, Method, "Method", [], [], (_, _) =>
                {
                    _probe.Visit("method");
                    return new(MethodResult.Good());
                });
            },
            options => options.AuthorizeVariable = (in VariableAccess _) =>
            {
                _probe.Visit("authorizer");
                return true;
            });
        for (int i = 0; i < 2; i++)
        {
            await using OpcUaClient client = await server.ConnectAsync();
            _probe.Mark = $"caller {i}";
            Assert.Equal([7, 7], (await client.ReadAsync([Asked, Asked])).Select(static value => value.Value.Get<int>()));
            Assert.Equal([StatusCodes.Good], await client.WriteAsync([new(Written, 5)]));
            Assert.Equal(StatusCodes.Good, (await client.CallAsync(Owner, Method, [])).Status);
            Assert.Equal($"caller {i}", _probe.Mark);
        }

        await _probe.ExpectNoLeaksAsync("read", "write", "method", "authorizer");
    }
}
