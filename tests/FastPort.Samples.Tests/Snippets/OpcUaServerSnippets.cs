using FastPort.OpcUa;
using FastPort.OpcUa.Server;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;

namespace FastPort.Samples.Tests.Snippets;

/// <summary>OPC UA server code shown in docs/opc-ua-server.md.</summary>
internal static class OpcUaServerSnippets
{
    // docs: embed
    public static async Task<OpcUaServer> StartAsync(string endpoint, string certificates)
    {
        var options = new OpcUaServerOptions { Endpoints = { endpoint }, ApplicationUri = "urn:example:boiler" };
        options.Certificates.Directory = certificates;
        var server = new OpcUaServer(options);
        ushort index = server.AddressSpace.AddNamespace("urn:example:boiler");
        VariableNode temperature = server.AddressSpace.AddVariable(
            AddressSpace.ObjectsFolder, new NodeId(index, "Temperature"), new QualifiedName(index, "Temperature"), 20.5);
        await server.StartAsync();
        temperature.Value = new DataValue(21.0);
        return server;
    }

    // docs: end

    // docs: boiler
    public sealed class Boiler
    {
        private readonly Lock _gate = new();
        private double _pressure = 1.5;

        public VariableNode SetPoint { get; private set; } = null!;

        public void AddTo(AddressSpace space)
        {
            ushort index = space.AddNamespace("urn:example:boiler");
            NodeId boiler = Id("Boiler");
            space.AddObject(AddressSpace.ObjectsFolder, boiler, Name("Boiler"));

            // Clients may write it. It has a range, so deadbands in percent are possible.
            SetPoint = space.AddAnalogVariable(boiler, Id("SetPoint"), Name("SetPoint"), 80.0, low: 0, high: 120, writable: true);

            // Read when a client reads.
            space.AddVariable<double>(boiler, Id("Pressure"), Name("Pressure"), () => new DataValue(Pressure));
            space.AddArrayVariable(boiler, Id("Burners"), Name("Burners"), [true, false, false, false]);
            space.AddMethod(
                boiler, Id("Vent"), Name("Vent"), [new("Bar", BuiltInType.Double)], [new("Pressure", BuiltInType.Double)], VentAsync);

            NodeId Id(string name) => new(index, name);
            QualifiedName Name(string name) => new(index, name);
        }

        private double Pressure
        {
            get
            {
                lock (_gate)
                {
                    return _pressure;
                }
            }
        }

        // The inputs have the types that were declared. May also complete later.
        private ValueTask<MethodResult> VentAsync(ReadOnlyMemory<Variant> inputs, CancellationToken cancellationToken)
        {
            double bar = inputs.Span[0].Get<double>();
            if (bar is < 0 or double.NaN)
            {
                return new(new MethodResult(StatusCodes.BadOutOfRange));
            }

            lock (_gate)
            {
                _pressure = Math.Max(0, _pressure - bar);
                return new(MethodResult.Good(_pressure));
            }
        }
    }

    // docs: end

    // docs: hosted
    public static void AddBoiler(IServiceCollection services, IConfiguration configuration)
    {
        services.AddSingleton<Boiler>();
        services.AddSingleton<Operators>();
        services
            .AddOpcUaServer(configuration, (provider, space) => provider.GetRequiredService<Boiler>().AddTo(space))
            .Configure<Operators>((options, operators) => options.ValidateUser = operators.CheckAsync);
    }

    // docs: end
    internal sealed class Operators
    {
        public ValueTask<bool> CheckAsync(string name, string password, CancellationToken cancellationToken) =>
            new(name == "ann" && password == "secret");
    }
}
