using Company.My_Client;
using FastPort;
using FastPort.Protocol;

string? server = args switch
{
    [] => "tcp://127.0.0.1:6628",
    ["--server", var uri] => uri,
    _ => null,
};
if (server is null)
{
    Console.Error.WriteLine("The only argument is --server URI.");
    return 2;
}

try
{
    await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server });
    await client.ConnectAsync();
    await new Visitor(new GreeterClient(client), Console.Out).VisitAsync("Ann");
    return 0;
}
catch (Exception e) when (e is FastPortOptionsException or EndpointException or RequestFailedException)
{
    Console.Error.WriteLine(e.Message);
    return 1;
}
