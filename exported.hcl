Kind = "exported-services"
Name = "default"

Services = [
  {
    Name      = "shop"
    Consumers = [{ Peer = "west" }]
  }
]
