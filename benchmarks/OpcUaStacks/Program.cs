using OpcUaStacks;

// Compares the sources of tags on both OPC UA stacks: the same tags of the same server, one core each for client and server.
switch (args)
{
    case ["serve"]:
        await TagServer.RunAsync();
        return 0;
    case ["run", string stack, string url]:
        Console.WriteLine(await SourceRun.RunAsync(stack, url));
        return 0;
    case ["pairs", string count]:
        await Pairs.RunAsync(int.Parse(count, System.Globalization.CultureInfo.InvariantCulture));
        return 0;
    default:
        Console.Error.WriteLine("serve | run FastPort|OpcFoundation URL | pairs COUNT");
        return 2;
}
